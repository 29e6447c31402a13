// ProgramRun: runs the wrapper on given inputs: kernels by their text, operators by Kerf's. Neither PyTorch nor a GPU is
// asked, and nothing of the program is executed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/audit/meaning/drawn_operators.h"
#include "engine/audit/meaning/kernel_machine.h"
#include "engine/audit/meaning/run_values.h"
#include "engine/audit/program/output_program.h"

namespace kerf::inline audit {

/// One statement that writes buffers.
struct RunCall {
  int line = 0;
  std::string name;
  std::vector<int> reads;  ///< calls whose results it reads
  bool hasResult = false;  ///< what it wrote is known
  bool isNode = false;     ///< a node of the graph has these numbers
  std::string problem;     ///< why it could not be run
};

struct RunOutcome {
  std::vector<RunValue> returned;
  std::map<std::string, RunValue, std::less<>> inputs;  ///< as they are afterwards
  std::vector<RunCall> calls;
  std::map<const RunMemory*, int> writers;  ///< the last call that wrote each memory
  int line = 0;                             ///< of the return statement
  std::string problem;                      ///< why it stopped before its end
  int mismatchLine = 0;                     ///< of an operator's call that no node has the operands of
  std::string mismatch;
};

struct RunContext {
  const OutputProgram& program;
  const DrawnOperators& ops;
  const GraphModule& graph;
  std::map<std::string, Value, std::less<>> inputs;  ///< by the graph's placeholders
  std::set<std::string, std::less<>> kept;           ///< inputs that are looked at afterwards
  std::function<bool(const ValueMark&)> isNode;      ///< empty: nobody asks which call is wrong
  RunBudget& budget;
};

RunOutcome runProgram(const RunContext& context);

}  // namespace kerf::inline audit
