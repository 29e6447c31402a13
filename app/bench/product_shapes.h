// The products that `kerf bench --products` measures without graphs.
#pragma once

#include <span>

#include "app/bench/products.h"

namespace kerf::bench {

/// Of the recorded graphs of gpt2, bert_base, vit_b_16, llama_8l and convnext_seed, forward and backward.
std::span<const ProductShape> productShapes();

}  // namespace kerf::bench
