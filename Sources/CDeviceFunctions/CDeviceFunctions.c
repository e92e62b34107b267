#include "CDeviceFunctions.h"
