// The built-in graphs of `kerf bench --compiled`: each is one or two kernels that big models spend their time in.
#pragma once

#include <string_view>
#include <vector>

namespace kerf::bench {

struct KernelBenchCase {
  std::string_view name;
  std::string_view text;  ///< a graph as PyTorch prints it
};

const std::vector<KernelBenchCase>& kernelBenchCases();

}  // namespace kerf::bench
