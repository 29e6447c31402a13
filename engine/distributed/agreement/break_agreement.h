// Where ranks end the graph of a frame: a graph break, or a skip, that one rank decides is taken by all that trace the frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/distributed/agreement/compile_agreement.h"

namespace kerf::inline distributed::inline agreement {

/// How one rank's graph of a frame ends.
struct GraphEnd {
  enum class Kind { Whole, Break, Skip };
  Kind kind = Kind::Whole;
  int instruction = -1;  ///< of the function as it was written (resume functions count in it too), at which it breaks
  int visit = 0;         ///< the how many-th execution of it, from 1
  long step = 0;         ///< instructions executed before
  bool leavesFrame = false;  ///< the rest runs as it was written
  bool isBefore = false;     ///< the rest begins with the instruction itself
  std::string reason;        ///< with its place, for users

  bool isAt(const GraphEnd& other) const {
    return kind == other.kind && instruction == other.instruction && visit == other.visit;
  }
};

/// What one rank tells the others before it compiles a graph.
struct FrameClaim {
  std::string frame;  ///< the function as it was written: only ranks in the same one can end alike
  int round = 0;      ///< how often it has asked for this graph before
  GraphEnd end;
  std::vector<GraphEnd>
      answered;  ///< ends of others that it has met, in the same place or in one that all ways lead to
  FrameState state;
};

std::string claimText(const FrameClaim& claim);
/// BadInput for what is no claim.
Result<FrameClaim> parseClaim(const std::string& text);

struct Decision {
  FrameState state;             ///< to trace with
  std::optional<GraphEnd> end;  ///< to meet; a skip: the frame runs as it was written
  int rank = -1;                ///< whose end it is
  bool isBreakOfAll = false;    ///< every rank breaks its graph of this function: each has a rest of it to go on with
  bool isSettled = false;       ///< on all ranks: nobody has to trace again
};

/// The most rounds of one graph; after them each rank goes its own way.
inline constexpr int mostRounds = 8;

/// What `rank` does next, from the claims of all ranks; the same on all of them in what they have in common.
Decision decideEnd(const std::vector<FrameClaim>& claims, int rank);

}  // namespace kerf::inline distributed::inline agreement
