// CaptureLog: what was compiled in this process: frames, graphs, breaks, guards, recompiles.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

struct GraphBody;

struct LoggedGraph {
  std::string name;  ///< "__compiled_fn_1"
  Graph graph;
  std::vector<std::string> sources;  ///< of the placeholders
  std::string ranBy;                 ///< "eager", "aot_eager", "inductor"; "eager (why)" where the backend left it
  std::vector<Ref> nested;           ///< bodies of higher-order operators, those inside of others too
  std::string exported;              ///< of torch.export: the ExportedProgram as text, in place of the graph
  std::vector<Ref> inputs;           ///< copies of what they got at first, where the log keeps them
  /// By node: the program's lines, "file.py:3 in f", outermost first. Of calls, where the log is detailed.
  std::unordered_map<std::uint32_t, std::vector<std::string>> stacks;
  /// The body that a get_attr node gets; null for others.
  const GraphBody* body(const Node& node) const;
};

struct LoggedBreak {
  std::string type;                ///< first line of the reason
  std::string reason;              ///< with explanation, hints and context
  std::vector<std::string> stack;  ///< "file.py:3 in f", outermost first
  bool graphBreak = true;          ///< false: the frame is left to CPython
  std::string explanation;         ///< the parts of the reason
  std::vector<std::string> hints;
  std::string context;
  int frame = -1;  ///< index in the log's frames of the one that ends there; -1: none was compiled
};

struct FrameGuard {
  std::string kind;
  std::string leaf;
  std::string source;
  std::string asked;        ///< line that asked for it: "file.py:3 in f"
  double nanoseconds = -1;  ///< that one check takes; -1: not measured
};

/// One instruction of a code object, to be read.
struct LoggedInstruction {
  int offset = 0;  ///< bytes
  int line = 0;    ///< of the program; 0: none
  std::string name;
  std::string argument;
  bool isTarget = false;  ///< a jump or a handler leads here
};

struct LoggedFrame {
  std::string name;
  std::string at;                  ///< "file.py:9"
  std::vector<std::string> calls;  ///< "__compiled_fn_1", "__resume_at_66_3"
  std::vector<FrameGuard> guards;
  bool isEmpty =
      false;        ///< its graph had no node at all, not even an input: torch._dynamo.explain leaves out its guards
  int number = -1;  ///< of its code object, in the order of first compilations
  int entry = 0;    ///< how often its code object had been compiled before
  std::shared_ptr<std::int64_t> runs = std::make_shared<std::int64_t>(0);  ///< how often it ran so far
  double milliseconds = 0;                                                 ///< that compiling it took
  std::vector<LoggedInstruction> original, modified;                       ///< where the log is detailed
};

struct LoggedRecompile {
  std::string function;
  std::string at;
  std::string failedGuard;
  int frame = -1;  ///< index in the log's frames of what was compiled then; -1: nothing
};

struct CaptureLog {
  std::vector<LoggedFrame> frames;
  std::vector<LoggedGraph> graphs;
  std::vector<LoggedGraph> exported;  ///< by torch.export
  std::vector<LoggedBreak> breaks;
  std::vector<LoggedBreak> skips;  ///< frames that CPython ran as they were written
  std::vector<LoggedRecompile> recompiles;
  std::int64_t inputBytes = 0;  ///< room that is left for copies of inputs; 0: none are kept
  int compileNumber = 0;        ///< of names: graphs and resume functions count together
  bool isDetailed = false;      ///< with bytecode, stacks of nodes, and what guards cost
};

/// Of this process.
CaptureLog& captureLog();
/// As PyTorch prints a graph break.
std::string reasonText(const std::string& type, const std::string& explanation, const std::vector<std::string>& hints,
                       const std::string& context);

}  // namespace kerf::inline dynamo
