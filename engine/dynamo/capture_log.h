// CaptureLog: what was compiled in this process: frames, graphs, breaks, guards, recompiles.
#pragma once

#include <string>
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
  /// The body that a get_attr node gets; null for others.
  const GraphBody* body(const Node& node) const;
};

struct LoggedBreak {
  std::string type;                ///< first line of the reason
  std::string reason;              ///< with explanation, hints and context
  std::vector<std::string> stack;  ///< "file.py:3 in f", outermost first
  bool graphBreak = true;          ///< false: the frame is left to CPython
};

struct FrameGuard {
  std::string kind;
  std::string leaf;
  std::string source;
};

struct LoggedFrame {
  std::string name;
  std::string at;                  ///< "file.py:9"
  std::vector<std::string> calls;  ///< "__compiled_fn_1", "__resume_at_66_3"
  std::vector<FrameGuard> guards;
  bool isEmpty =
      false;  ///< its graph had no node at all, not even an input: torch._dynamo.explain leaves out its guards
};

struct LoggedRecompile {
  std::string function;
  std::string at;
  std::string failedGuard;
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
};

/// Of this process.
CaptureLog& captureLog();
/// As PyTorch prints a graph break.
std::string reasonText(const std::string& type, const std::string& explanation, const std::vector<std::string>& hints,
                       const std::string& context);

}  // namespace kerf::inline dynamo
