// RunRecording: what one run left behind: its steps in their order, and of each step what is known of the tensors that it
// took and gave. Every format that is aligned becomes this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline align {

/// Figures of a tensor's elements; `norm` is the root of the sum of squares of the finite ones.
struct ElementStats {
  double min = 0, max = 0, mean = 0, norm = 0, nan = 0, inf = 0;
};

/// What a recording tells of one tensor.
struct StepValue {
  std::string name;   ///< of a kernel's argument or a keyword; empty for others
  std::string dtype;  ///< "f32"
  std::vector<std::int64_t> shape;
  bool shaped = false;   ///< shape and dtype are known, and every size is a number
  std::int64_t id = -1;  ///< the recording's own number of the tensor; -1: it has none
  std::string hash;      ///< a checksum, its kind in front: "hash_tensor:17". Of one kind, equal bits give equal ones
  std::optional<double> l1;  ///< sum of magnitudes
  std::optional<ElementStats> stats;
  std::optional<Tensor> data;
  bool perhapsTaken = false;  ///< a step takes this or another result of the same step; which, is not told

  std::int64_t elements() const;
  bool measured() const { return !hash.empty() || l1 || stats || data; }
  /// "f32[4, 32]".
  std::string text() const;
};

/// One call of an op or of a generated kernel, or one input of the run.
struct RunStep {
  std::string name;                ///< of the node; of a log, the op and which of its calls it is: "aten.addmm #2"
  std::string op;                  ///< "aten.addmm", without overload; "input"; a kernel's name
  std::string constants;           ///< arguments that are no tensors, as written
  std::string module;              ///< "Mlp.up"
  std::string source;              ///< "model.py:16 in forward, code: …"
  std::vector<std::string> parts;  ///< of a step that stands for several ops: these
  std::vector<StepValue> inputs, outputs;
  bool kernel = false;   ///< generated code
  bool inPlace = false;  ///< writes into what it takes
  bool input = false;    ///< of the run, no call
};

struct RunRecording {
  std::string kind;  ///< "DebugMode log", "kerf record", "safetensors"
  std::string side;  ///< "compiled" or "eager", where one recording holds both
  std::vector<RunStep> steps;
  std::vector<std::string> notes;
};

/// Whether a checksum tells values apart: there is one, and it is not 0, as that of values that are repeated evenly is.
bool namesValue(std::string_view hash);

/// "aten.addmm" of "aten::addmm.out", "torch.ops.aten.addmm.default" or "aten.addmm.default".
std::string baseOpName(std::string_view op);
/// "addmm" of "aten.addmm".
std::string_view shortOpName(std::string_view op);
/// Whether a base name is that of an op that writes into its first argument: "aten.relu_".
bool writesInPlace(std::string_view base);

/// Gives the steps their names: op and number among the calls of that op.
void nameSteps(RunRecording& recording);

}  // namespace kerf::inline align
