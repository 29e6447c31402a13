// LoweredGraph: a whole graph as a schedule of loop kernels and extern calls over buffers with planned places.
#pragma once

#include <limits>
#include <memory>

#include "engine/loops/loop_ir.h"
#include "engine/lower/buffer_table.h"
#include "engine/lower/index_check.h"
#include "engine/support/result.h"

namespace kerf::inline lower {

struct LoweredStep {
  bool isExtern = false;
  NodeId node;                ///< extern: the call
  std::vector<NodeId> nodes;  ///< everything computed here, in graph order
  int segment = 0;
  // loop kernels
  LoopKernel kernel;
  struct Argument {
    int buffer = -1;
    SymInt offset = 0;  ///< elements
  };
  std::vector<Argument> arguments;  ///< per kernel buffer
  std::vector<IndexCheck> indexChecks;
  std::vector<std::string> origins;  ///< per expression of the kernel, the FX node that it is of; may be shorter
  /// Extern: the next step, a kernel, runs block by block with this one (joinFollowers()). Each iteration of its divided
  /// loops takes so many elements of the result, one after the other; 0: it does not.
  std::int64_t followerElements = 0;
  bool followerTakesAll = false;  ///< nothing else reads the result
  std::vector<int> reads;         ///< buffers, for liveness
  std::vector<int> writes;
};

/// While a planned buffer is in use, and its place.
struct Lifetime {
  int buffer = -1;
  int first = -1, last = -1;  ///< steps
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};

/// Sizes that are expressions belong to the ShapeEnv in whose scope the graph was lowered.
struct LoweredGraph {
  std::shared_ptr<const ValueTable> values;
  BufferTable buffers;
  std::vector<LoweredStep> steps;
  std::vector<Lifetime> lifetimes;  ///< of Planned buffers, at the example's sizes
  std::int64_t plannedBytes = 0;    ///< arena
  std::int64_t unplannedBytes = 0;  ///< what the arena's buffers would take without reuse
  std::string plannedText;          ///< with symbols: bytes in use at the step where the example has most in use
  std::string unplannedText;        ///< with symbols: the sum of all buffers
};

/// Who copies into inputs.
enum class InputCopies : std::uint8_t {
  Calls,
  InKernels,  ///< kernels that compute what is copied, where that is right for inputs that share no memory (storeCopies)
};

/// The stages before scheduling (classification) and from then on, separately timed by the pipeline.
/// `roundsEachOp`: see ElementBuilder. With images channels last, followers are joined to convolutions.
Result<LoweredGraph> scheduleGraph(std::shared_ptr<const ValueTable> values, bool fuse, bool roundsEachOp = true,
                                   ImageLayout layout = ImageLayout::AsRecorded,
                                   InputCopies copies = InputCopies::InKernels);

/// Puts every convolution in front of the kernel that reads its result first, and joins the two where the kernel takes
/// the result row by row.
///
///   before: convolution; …; silu      after: …; for block of rows: convolution, silu
void joinFollowers(LoweredGraph& graph);

/// Sorts loops so that memory is walked in order and merges neighbours that every access walks as one. Results of at
/// least `streamedFrom` bytes are written past the caches: whole lines of them may lie anywhere, so that what is read is
/// walked in order. With `cutsLoops`, for code that has a loop for each range of an index that is compared with numbers,
/// such a loop is merged with the one inside of it: i1 < 128 of rows of 196 becomes i < 25088.
void simplifyLoops(LoopKernel& kernel, std::int64_t streamedFrom = std::numeric_limits<std::int64_t>::max(),
                   bool cutsLoops = false);

/// Gives every Planned buffer that some step writes an offset; buffers alive at the same time never overlap.
void planMemory(LoweredGraph& graph);
/// Instead: a place of its own for each of these buffers, as if all were in use throughout.
void keepApart(LoweredGraph& graph);
struct ArenaSize {
  std::int64_t planned = 0, unplanned = 0;
};
/// The same for other sizes: sets `offset`.
ArenaSize placeBuffers(std::vector<Lifetime>& lifetimes);

/// "aten.add.Tensor" → "add": the part of an op's name that kernel names show.
std::string opBaseName(std::string_view target);

}  // namespace kerf::inline lower
