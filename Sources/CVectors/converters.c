// The sums of the rate converters.
#include "vectors.h"

// Returns the index of the first of the eight middle weights of `count`, as defined in
// WeightRow.swift.
BODY long middle_of(long count) { return count / 2 - 4; }

BODY void vectors_mix_weights_body(
    float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
    double third_factor, double fourth_factor) {
  const float one = (float)first_factor, two = (float)second_factor;
  const float three = (float)third_factor, four = (float)fourth_factor;
  const float *second = rows + stride, *third = second + stride, *fourth = third + stride;
  for (long index = 0; index < count; index += 8) {
    const float8 early = one * load8(rows + index) + two * load8(second + index);
    const float8 late = three * load8(third + index) + four * load8(fourth + index);
    store8(weights + index, early + late);
  }
  // The outer two rows have factors of at most a sixteenth, for which 24 bits are sufficient.
  const float8 outer = one * load8(rows + count) + four * load8(fourth + count);
  const double8 inner = second_factor * exact8(second + count) + third_factor * exact8(third + count);
  const double8 exact = inner + __builtin_convertvector(outer, double8);
  const float8 rounded = __builtin_convertvector(exact, float8);
  const float8 rest = __builtin_convertvector(exact - __builtin_convertvector(rounded, double8), float8);
  store8(weights + count, rounded);
  float *middle = weights + middle_of(count);
  store8(middle, load8(middle) + rest);
}
TWO_VERSIONS(
    void, vectors_mix_weights,
    (float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
     double third_factor, double fourth_factor),
    weights, rows, stride, count, first_factor, second_factor, third_factor, fourth_factor)

BODY float total(float8 sums, double8 middle) {
  const float4 four = sums.lo + sums.hi;
  const double4 exact = middle.lo + middle.hi;
  const double low = exact[0] + exact[2], high = exact[1] + exact[3];
  return (float)((double)((four[0] + four[2]) + (four[1] + four[3])) + (low + high));
}

BODY float vectors_inner_product_body(const float *weights, const float *samples, long count) {
  float8 sum = 0;
  for (long index = 0; index < count; index += 8) sum += load8(weights + index) * load8(samples + index);
  return total(sum, exact8(weights + count) * exact8(samples + middle_of(count)));
}
TWO_VERSIONS(
    float, vectors_inner_product, (const float *weights, const float *samples, long count), weights, samples, count)

BODY void vectors_inner_products_body(
    const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum) {
  float8 left = 0, right = 0;
  for (long index = 0; index < count; index += 8) {
    const float8 weight = load8(weights + index);
    left += weight * load8(first + index);
    right += weight * load8(second + index);
  }
  const double8 middle = exact8(weights + count);
  *first_sum = total(left, middle * exact8(first + middle_of(count)));
  *second_sum = total(right, middle * exact8(second + middle_of(count)));
}
TWO_VERSIONS(
    void, vectors_inner_products,
    (const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum),
    weights, first, second, count, first_sum, second_sum)
