// Arithmetic of the compiler's own vectors: one instruction for each four floats or two doubles. The standard library of
// Swift works number by number, and leaves it to the optimiser to put them together again.
#pragma once

#define VECTOR_FUNCTION __attribute__((swift_attr("@_noLocks"), always_inline, const)) static inline

#define VECTOR_ARITHMETIC(vector, number, count) \
  typedef number vector __attribute__((ext_vector_type(count))); \
  VECTOR_FUNCTION vector vector##_sum(vector left, vector right) { return left + right; } \
  VECTOR_FUNCTION vector vector##_difference(vector left, vector right) { return left - right; } \
  VECTOR_FUNCTION vector vector##_product(vector left, vector right) { return left * right; }

VECTOR_ARITHMETIC(float4, float, 4)
VECTOR_ARITHMETIC(double4, double, 4)
