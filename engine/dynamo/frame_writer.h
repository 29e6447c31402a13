// FrameWriter: the code object of a compiled frame, and the functions in which it goes on after a graph break.
#pragma once

#include <memory>
#include <vector>

#include "engine/dynamo/bytecode.h"
#include "engine/dynamo/compiled_frame.h"

namespace kerf::inline dynamo {

/// The frame that is rewritten.
struct FrameShape {
  PyCodeObject* code = nullptr;
  int arguments = 0;  ///< positional, keyword-only, *args and **kwargs
  int locals = 0;
  int places = 0;  ///< locals, cells and free variables

  explicit FrameShape(PyCodeObject* code);
  bool isCell(int slot) const;
  bool isFree(int slot) const;
  bool isHidden(int slot) const { return isCell(slot) || isFree(slot); }
  std::string name(int slot) const;
  /// The places from which compiled code takes its arguments: arguments, cells and free variables.
  std::vector<int> inputs() const;
};

/// What lives on where a partial graph ends.
struct LiveState {
  int index = 0;            ///< of the instruction at which the graph ends
  bool isBefore = false;    ///< the instruction is part of the rest
  bool isAgreed = false;    ///< all ranks end their graphs of the function with a break
  std::vector<bool> nulls;  ///< of the stack: which entries are CPython's NULL
  std::vector<int> locals;  ///< places whose values are used later
  int resumeNumber = 0;     ///< of names
  std::vector<int> withs;   ///< places in the stack of the bound __exit__ of open with-blocks, outermost first
};

/// Locals that are read before they are written when execution goes on at one of `starts`.
std::vector<int> liveLocals(const Bytecode& bytecode, const std::vector<int>& starts, const FrameShape& shape);
/// Values that an instruction takes off the stack where a graph ends before it.
int consumedBy(const Instruction& instruction);
int producedBy(const Instruction& instruction);

/// The frame that runs to its end in compiled code.
Ref writeWholeFrame(const FrameShape& shape, const Ref& compiled);
/// The frame whose compiled part ends before an instruction; `names` takes the names of resume functions.
Ref writePartialFrame(const FrameShape& shape, const Bytecode& bytecode, const Ref& compiled, const LiveState& live,
                      const Ref& keywordNames, std::vector<std::string>& names);
/// The frame whose rest runs as it was written, from an instruction on with an empty stack.
Ref writeLeavingFrame(const FrameShape& shape, const Bytecode& bytecode, const Ref& compiled, const LiveState& live);

}  // namespace kerf::inline dynamo
