// Every template, in the order in which they use one another.

#include "vector.h"

#include "product.h"
#include "window.h"
#include "layout.h"
#include "elementwise.h"
#include "sampler.h"
#include "table.h"
