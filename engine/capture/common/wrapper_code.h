// The program that Inductor writes for a graph (inductor_output_code, output_code.py): its kernels, with what the
// comments above them say of graph nodes, and the calls in the order in which they run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture {

/// A generated kernel and the comments over its definition: "# Source node to ATen node mapping:" and
/// "# Graph fragment:". C++ kernels come without comments.
struct WrapperKernel {
  std::string name;                   ///< "triton_poi_fused_add_mul_0", "cpp_fused_relu_1"
  std::vector<std::string> sources;   ///< "Topologically Sorted Source Nodes: […]": nodes of the graph before AOT
  std::vector<std::string> computed;  ///< nodes of the fragment that are calls; they may stand for what is only read
  std::vector<std::string> loaded;    ///< "%x = PlaceHolder[target=x]": nodes and buffers that it has arguments for
  std::vector<std::string> stored;    ///< "return %a,%b": nodes, and buffers ("buf7") that no node stands for
  int line = 0;                       ///< 1-based, in the program
  int firstLine = 0, lastLine = 0;    ///< with the comments above it, and to the end of its source
};

/// One call: of a generated kernel, or of an existing one.
struct WrapperCall {
  std::string callee;  ///< "triton_poi_fused_add_0", "extern_kernels.addmm", "torch.ops.aten.sort.stable"
  int number = 0;      ///< 1 for the first call of the program, or what its debug handle says
  std::vector<std::string> arguments;  ///< names of buffers and inputs, in order, views looked through
  std::string result;                  ///< what it is assigned to, or its `out=`; empty: among the arguments
  std::vector<std::string> sources;    ///< of its own comment
  int line = 0;
  int firstLine = 0;  ///< that of the comments that belong to it

  /// As provenance maps name it: "extern_kernels.addmm:3".
  std::string name() const;
};

struct WrapperCode {
  std::string part;  ///< "forward", "backward" or "inference", out of "# AOT ID: ['0_forward']"; empty without one
  std::vector<WrapperKernel> kernels;
  std::vector<WrapperCall> calls;
  std::vector<std::pair<std::string, std::string>> items;  ///< `buf14 = buf13[0]`: "buf14", "buf13"

  std::vector<std::string> returned;  ///< names of the values that the program returns, in order

  const WrapperKernel* kernel(std::string_view name) const;
};

/// Whether a kernel's name is that of generated code, not of a call of an existing function ("extern_kernels.mm").
bool isGeneratedKernel(std::string_view name);

/// Reads the program; nothing in it is executed. Lines of other shapes are passed over, so that a text that is no such
/// program has no calls.
WrapperCode readWrapperCode(std::string_view text);

}  // namespace kerf::inline capture
