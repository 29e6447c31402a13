// rowDots: few rows times a transposed matrix, each element the dot product of two rows where they lie. Copying the right
// matrix into panels first would take longer than multiplying by it. Private to mathlib.
#pragma once

#include "engine/mathlib/panel_gemm.h"

namespace kerf::inline mathlib {

/// Whether a product is one of few long rows by such rows.
template <class T>
bool suitsRowDots(const PanelProduct<T>& product);

/// c = alpha * a @ bᵀ + beta * c, on `threads` threads at most. A sum has a vector's lanes as partial sums.
template <class T>
void rowDots(const PanelProduct<T>& product, const T* a, const T* b, T* c, int threads);

}  // namespace kerf::inline mathlib
