// CompileLog: everything that a TORCH_TRACE log says of a compilation beside its graphs, by compile id: why it was
// compiled again, why it broke, failed or missed a cache, its guards, sizes, kernels, and where they come from.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/trace/log_stack.h"

namespace kerf::inline capture {

/// Why Dynamo compiled a frame once more: a guard of an earlier compilation did not hold.
struct RecompileCause {
  std::string from;           ///< "[0/0]": whose guard failed
  std::string guard;          ///< as logged: "tensor 'x' size mismatch at index 0. expected 2, actual 3"
  std::string subject;        ///< what changed: "x.size(0)", "the type of x"; the guard itself where that is not known
  std::string before, after;  ///< "2", "3"; empty where not told
  std::string where;          ///< where the guard that failed comes from; empty where it is not among those logged
};

/// A place where Dynamo ended a graph in the middle of a frame.
struct GraphBreak {
  std::string reason;       ///< "Data-dependent branching"
  std::string where;        ///< user's line, "train.py:41 in forward"
  std::string code;         ///< that line's text
  std::string explanation;  ///< hints and the traceback, as logged
  bool implied = false;     ///< only the name of a resume function tells of it (logs of older versions)
  int line = 0;             ///< of the record, in its log
};

/// An attempt that Dynamo gave up and began anew.
struct CompileRestart {
  std::string reason;
  bool isBreak = false;  ///< the reason is that of a graph break
};

struct CompileFailure {
  std::string type, reason;  ///< "torch._dynamo.exc.InternalTorchDynamoError", "RuntimeError: …"
  std::string where;         ///< user's line
  std::string trace;         ///< the traceback, as logged
  int line = 0;
};

/// One look into one of PyTorch's caches.
struct CacheLookup {
  std::string cache;   ///< "fx_graph", "aotautograd"
  std::string result;  ///< "hit", "miss", "bypass", "hash" (only the key is told)
  std::string key;
  std::string reason;        ///< of a bypass; of a miss what differs from the lookup before, where that can be told
  std::string detail;        ///< cache_status_detailed
  std::string direction;     ///< "forward", "backward", "inference"; empty: not told
  double savedSeconds = -1;  ///< by a hit; -1: not told
  int run = 1;               ///< the id's compilation, from 1: a log may hold several processes
  int line = 0;
  std::vector<std::pair<std::string, std::string>> components;  ///< of the key: name and hash
};

/// One guard of a compiled frame.
struct LoggedGuard {
  std::string kind;                    ///< "TENSOR_MATCH"; "GUARD" in the lists of older versions
  std::string code;                    ///< "len(L['x']) == 3"
  std::string source;                  ///< "L['x']"; empty: none of its own
  std::string where;                   ///< user's line, or the compiler's that asked
  std::vector<std::string> failedFor;  ///< ids that were compiled because it did not hold
};

/// A step in the life of symbolic sizes.
struct SymbolFact {
  std::string kind;     ///< "created", "unbacked", "specialised", "guard", "guessed"
  std::string subject;  ///< the symbol, or the guard's expression
  std::string value;    ///< at which it was traced or fixed; what was guessed
  std::string range;    ///< "[2, int_oo]"
  std::string source;   ///< "L['x'].size()[0]"
  std::string reason;
  LogStack user, framework;
  int line = 0;
};

/// What torch.export could not do, or did not know.
struct ExportProblem {
  std::string kind;     ///< "data-dependent error", "guard evaluated", "missing fake kernel", "mismatched fake kernel"
  std::string subject;  ///< expression or operator
  std::string reason;   ///< what was assumed; how the kernels differ
  LogStack user, framework;
  std::vector<std::pair<std::string, std::string>> locals, sources;  ///< of the user's frame; of its symbols
  std::vector<std::string> origin;                                   ///< how the expression came to be, a step a line
  int line = 0;
};

/// One compilation_metrics record (or of another kind: forward, backward, runtime), its texts and numbers.
struct CompileMetrics {
  std::string kind;
  int run = 1, line = 0;
  std::vector<std::pair<std::string, std::string>> fields;  ///< null and very long ones left out
  LogStack stack;                                           ///< of the frame, where the record has it

  /// Seconds by the names that versions have used for it; -1 if it tells none.
  double seconds(std::string_view what) const;
  std::string field(std::string_view name) const;
};

/// A generated kernel on its way back to the user's line.
struct KernelOrigin {
  std::string kernel, direction;
  std::vector<std::string> postGradNodes, preGradNodes;
  std::vector<std::string> lines;        ///< "model.py:12 in forward: x = x.relu()"
  std::int64_t code = -1;                ///< record of its output code
  std::vector<int> definedAt, calledAt;  ///< lines in it, from 1
};

/// Text that Inductor or Dynamo wrote: graphs, output code, wrappers; in the order of the log.
struct LoggedCode {
  std::size_t record = 0;
  std::string name, direction;
  bool isOutput = false;  ///< Inductor's output code
};

/// Estimates of one compiled graph: inductor_runtime_and_tensor_meta.
struct RuntimeEstimate {
  std::vector<std::pair<std::string, double>> ops;  ///< name and nanoseconds, in order
  double totalNs = 0;
  std::string tensors;  ///< fingerprint of what the ops return: shapes, strides, dtypes
  int line = 0;
};

/// Inductor's order of collectives in one graph, and how often the output code calls them.
struct CollectiveSchedule {
  std::vector<std::string> ops;  ///< waits included
  std::string direction;
  int called = -1, waited = -1;  ///< in the output code; -1: the log has none
  int line = 0;

  std::int64_t waits() const;      ///< in the schedule
  std::int64_t scheduled() const;  ///< without the waits
  /// Collectives without a wait: in the code, and where there is none in the schedule.
  std::int64_t unwaited() const;
};

struct CompileStory {
  LogStack stack;  ///< of dynamo_start
  std::vector<RecompileCause> causes;
  std::vector<GraphBreak> breaks;
  std::vector<CompileRestart> restarts;
  std::vector<CompileFailure> failures;
  std::vector<CacheLookup> caches;
  std::vector<LoggedGuard> guards;
  std::vector<SymbolFact> symbols;
  std::vector<ExportProblem> exports;
  std::vector<CompileMetrics> metrics;
  std::vector<KernelOrigin> kernels;
  std::vector<LoggedCode> codes;
  std::vector<RuntimeEstimate> estimates;
  std::vector<CollectiveSchedule> collectives;
  std::vector<std::pair<std::string, std::string>> links;  ///< name and address
  std::int64_t tensors = 0, exported = 0;                  ///< described inputs; exported_program records
  int runs = 0;                                            ///< how often it was compiled under this id
  std::string graphPrint, guardPrint;                      ///< what ranks are compared by; empty: none
};

struct CompileLog {
  FrameTable frames;
  std::vector<CompileStory> compiles;                  ///< as CaptureDetails::compiles
  std::vector<std::string> directions;                 ///< of each record: "", "forward", "backward", "inference"
  std::map<int, std::vector<std::string>> executions;  ///< rank → ids in the order in which graphs ran
  std::vector<std::pair<LogStack, std::size_t>> unknownStacks;  ///< of records without a compile id, and how many
  std::vector<std::string> notes;                               ///< what could not be read

  /// "x.py:1 in f" of the innermost frame; empty without one.
  std::string innermost(const LogStack& stack) const { return stack.empty() ? "" : frames.text(stack.back()); }
};

/// Reads the records of a trace once, one payload after another. What is broken becomes a note. Cancelled when
/// `progress` says so. A capture without details has an empty log.
Result<CompileLog> readCompileLog(const Capture& capture, const ImportProgress& progress = {});

}  // namespace kerf::inline capture
