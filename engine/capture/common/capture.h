// Capture: what one file that PyTorch left behind holds: graphs, their inputs, and where all of it came from.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/capture/common/details.h"
#include "engine/capture/common/input_origin.h"
#include "engine/capture/common/origin.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline symbolic {
class ShapeEnv;
}

namespace kerf::inline capture {

/// One argument of the graph, in placeholder order: the lines of `load_args` (formats A.1).
struct GraphInput {
  enum class Kind { Tensor, SymInt, Const, Unsupported, Generator, Opaque };
  Kind kind = Kind::Tensor;
  std::string name;  ///< placeholder name from the trailing comment, or the graph's placeholder
  // Tensor: a view of storages[storageIndex]
  int storageIndex = -1;
  DType dtype = DType::Float32;
  Sizes sizes;
  Sizes strides;
  std::int64_t storageOffset = 0;
  std::vector<std::string> sizeTexts;    ///< as written where a dimension was symbolic ("s33"); empty: all are numbers
  std::vector<std::string> strideTexts;  ///< the same for strides
  std::string offsetText;                ///< the same for the offset
  bool explicitStrides = false;          ///< the line gave strides although they are the contiguous ones
  Device device;
  bool requiresGrad = false;
  bool isLeaf = false;
  std::vector<std::pair<std::string, std::string>> extra;  ///< other keyword=value metadata (conj=True, …), verbatim
  // SymInt
  SymExpr sym;
  bool hasExprKeyword = false;  ///< the line gave the expression as expr=, which only newer versions of torch read
  // Const / Unsupported / Opaque / Generator: text inside the parentheses and the trailing comment, verbatim
  std::string text;
  std::string comment;
  std::vector<std::string> block;  ///< triple-quoted lines that follow an `unsupported` list, verbatim
  int line = 0;
};

/// One `bufN = reader.storage(…)`. Bytes are loaded lazily from the content store, see CapturedGraph::loadInputs.
struct StorageRef {
  std::string hash;  ///< 40 hex digits; empty for None
  std::int64_t bytes = 0;
  std::string bytesText;  ///< as written where it was symbolic ("64*s33"); empty: a number
  Device device;
  std::optional<DType> dtypeHint;
  bool inBlock = false;  ///< defined only inside the triple-quoted block after an `unsupported` list
  int line = 0;
  std::optional<FileRange> file;       ///< raw bytes inside another file (a .pt2's weights): mapped, not read
  std::optional<std::uint32_t> crc32;  ///< checksum that the archive gives for `file`
  StoragePtr data;                     ///< set when Kerf made the data itself (export of a minified graph); else null
};

/// The text around the graph that must survive import → export (environment, config, version comments, run_repro args).
struct ReproEnvelope {
  std::vector<std::string> environmentLines;  ///< "os.environ['K'] = 'V'" lines, verbatim
  std::vector<std::string> configLines;       ///< "torch._inductor.config.x = y" lines, verbatim
  std::vector<std::string> headerLines;       ///< everything before the model class, verbatim, in order
  std::vector<std::string> betweenLines;      ///< between the model class and load_args, verbatim, in order
  std::vector<std::string> mainLines;         ///< everything after load_args, verbatim, in order; empty: written anew
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< "s0 = 4" lines: name and value
  std::vector<SymbolRange> symbolRanges;  ///< "s0 = 4  # VR[2, 64]": what Kerf writes of ranges that it knows
  std::string torchVersion, cudaVersion, gitVersion;
  std::vector<std::pair<std::string, std::string>> runOptions;  ///< accuracy=…, command=…, save_dir=…, verbatim values
  std::string runner = "after_aot";                             ///< or "after_dynamo"
  std::optional<int> loaderVersion;
};

/// torch.export's graph signature: what each placeholder and each output stands for (formats B.4).
struct GraphSignature {
  struct Entry {
    std::string
        kind;  ///< "user_input", "parameter", "buffer", "tensor_constant", …; "user_output", "buffer_mutation", …
    std::string name;        ///< placeholder, or the output's node
    std::string target;      ///< fully qualified parameter or buffer name, or the mutated user input
    bool persistent = true;  ///< buffers
  };
  std::vector<Entry> inputs, outputs;
};

/// How CapturedGraph::loadInputs makes values.
struct LoadOptions {
  bool strict = false;  ///< a missing storage is NotFound instead of being replaced
  /// Values of symbols by name ("s0" → 8), in place of the recorded ones.
  std::map<std::string, std::int64_t, std::less<>> symbols;
  InputFill fill = InputFill::Plausible;        ///< what stands in for missing data
  std::uint64_t seed = defaultInputSeed;        ///< of everything that is made up
  std::vector<InputOrigin>* origins = nullptr;  ///< if given, gets where each input comes from
};

struct Pt2Program;  ///< engine/capture/pt2/program.h

struct CapturedGraph {
  std::string name;  ///< "forward" of a repro; unique within the capture
  GraphOrigin origin;
  std::optional<GraphSignature> signature;    ///< of a .pt2
  std::shared_ptr<const Pt2Program> program;  ///< what else a .pt2 says of the graph, for writing it back; else null
  /// Set while the graph is only indexed (big logs): parses it. Name and origin are known before.
  std::function<Result<CapturedGraph>()> pending;
  GraphModule module;
  std::vector<GraphInput> inputs;
  std::vector<StorageRef> storages;
  std::filesystem::path storageDirectory;  ///< folder that holds the content-store files; may not exist
  bool namedBySha1 = false;  ///< the capture says that its storages are named after the SHA-1 of their bytes
  /// The text around a repro that is one of several graphs of its capture; null: Capture::envelope counts.
  std::shared_ptr<const ReproEnvelope> envelope;

  /// Parses an indexed graph now; nothing to do for the others. Everything else here needs it done.
  Result<void> ensureLoaded();
  /// Tensors for the interpreter, in placeholder order; several inputs may share one storage. What is missing is made up
  /// as the inputs' uses ask for (InputFill::Plausible) and reported in `notes`. `strict` turns a missing storage into
  /// NotFound.
  Result<ValueList> loadInputs(bool strict, std::vector<std::string>* notes) const;
  /// The same with values for the symbols: shapes, strides, offsets and storage sizes are evaluated anew; a storage
  /// that was recorded for another size is replaced. A graph without inputs of its own (text, traces) gets generated
  /// ones (generated_inputs.h). BadUsage for a symbol that the graph does not have; BadInput naming the symbols that
  /// need a value and have none, and for values that contradict each other.
  Result<ValueList> loadInputs(const LoadOptions& options, std::vector<std::string>* notes) const;
  /// Where each input would come from, without loading or making any of it. Errors as those of loadInputs().
  Result<std::vector<InputOrigin>> inputOrigins(const LoadOptions& options) const;
  /// The symbols of the inputs, by name, each with its recorded value if there is one.
  std::vector<SymExpr> symbols() const;
  /// Sets placeholder metas from `inputs` and propagates shapes over the graph (unknown ops keep none).
  Result<void> annotateShapes();
  /// The same in `env`, which then holds the graph's symbols and the guards under which the shapes hold.
  Result<void> annotateShapes(ShapeEnv& env);
  /// The first half of it: placeholder metas from `inputs`, which stay as they are where there are none.
  Result<void> annotateInputs();
  /// Hash over graph, inputs (specs) and storages' names and sizes.
  Hash128 contentHash() const;
};

/// The graph at other sizes: its symbols take `values`, the others keep theirs. Storages whose size changes lose their
/// bytes. Errors as those of loadInputs().
Result<CapturedGraph> withSymbolValues(const CapturedGraph& graph,
                                       const std::map<std::string, std::int64_t, std::less<>>& values);

/// The graph with data for all storages that have none, so that a repro written from it has the values that Kerf runs
/// on; annotated inputs become storages too. InputFill::Random, which is what PyTorch does itself, changes nothing.
Result<CapturedGraph> withGeneratedData(const CapturedGraph& graph, const LoadOptions& options);

struct Capture {
  std::string kind;  ///< "repro", "text", "pt2", "torch_trace", "debug_dir", "graph_transforms"
  std::filesystem::path path;
  std::string torchVersion;
  std::vector<CapturedGraph> graphs;
  ReproEnvelope envelope;
  std::shared_ptr<const CaptureDetails> details;  ///< of logs and debug folders; else null
  std::vector<std::filesystem::path> files;       ///< what was read, for the store to keep; empty: only `path`
  std::vector<std::string> notes;  ///< what the user should know ("storage … is missing: random data used")
  /// Call targets that exports may have although no table of what only computes has them (`--allow-call`).
  std::set<std::string, std::less<>> allowedCalls;
};

struct ImportLimits {
  std::int64_t fileBytes = 512LL << 20;
  std::int64_t lineBytes = 64LL << 20;
  int nesting = 200;
  std::int64_t nodes = 2'000'000;
  std::int64_t tensorBytes = 64LL << 30;  ///< of one storage
};

/// Progress in [0, 1]; return false to cancel.
using ImportProgress = std::function<bool(double)>;

/// Opens any supported file; content decides, not the extension. Never executes it.
Result<Capture> importCapture(const std::filesystem::path& path, const ImportLimits& limits = {},
                              const ImportProgress& progress = {});
/// The repro reader itself, over text (also the fuzz target's entry).
Result<Capture> importRepro(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits = {});

/// Writes `directory/fileName` and `directory/storages/<sha1>` for graph `index` of `capture`, as save_graph_repro
/// does: stock PyTorch runs it, Kerf imports it to the identical graph and inputs. Nothing half-written is left on
/// failure.
struct ExportOptions {
  std::string fileName = "repro.py";
  std::string command = "run";          ///< run_repro's command=
  std::optional<std::string> accuracy;  ///< run_repro's accuracy= as Python text; unset keeps the capture's
  std::stop_token stop = {};            ///< Cancelled between two storages, with nothing left behind
  bool stackTraces = false;             ///< "# File: …" lines above nodes that have a stack trace
};
Result<std::filesystem::path> exportRepro(const Capture& capture, std::size_t index,
                                          const std::filesystem::path& directory, const ExportOptions& options = {});

}  // namespace kerf::inline capture
