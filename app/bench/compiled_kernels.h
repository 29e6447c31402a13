// The built-in graphs of `kerf bench --compiled`: each is one or two kernels that big models spend their time in.
#pragma once

#include <string>
#include <vector>

namespace kerf::bench {

struct KernelBenchCase {
  std::string name;
  std::string text;  ///< a graph as PyTorch prints it
};

const std::vector<KernelBenchCase>& kernelBenchCases();

}  // namespace kerf::bench
