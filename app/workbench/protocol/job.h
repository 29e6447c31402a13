// Job: what goes with a request while it is worked on: events that come out, and the wish to stop that goes in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

#include "engine/support/fields.h"
#include "engine/support/progress.h"

namespace kerf::workbench {

/// How far a long step is.
struct ProgressEvent {
  std::string what;  ///< "reading trace.log"
  double done = 0;   ///< 0 to 1

  KERF_FIELDS(what, done)
};

/// Something that people should know and that stops nothing. Details are for those who asked for more.
struct NoteEvent {
  enum class Weight { Detail, Note, Warning };
  Weight weight = Weight::Note;
  std::string text;

  KERF_FIELDS(weight, text)
};
constexpr NoteEvent::Weight lastOf(NoteEvent::Weight) { return NoteEvent::Weight::Warning; }

/// One query of a minification, cached ones included.
struct MinifyEvent {
  std::string reductionId;  ///< "m2"; empty before the first step is stored
  std::string reduction, fingerprint;
  bool accepted = false;
  std::int64_t nodes = 0, inputBytes = 0, outputs = 0;  ///< of the candidate
  std::int64_t startNodes = 0, bestNodes = 0;
  int tests = 0;
  std::chrono::nanoseconds elapsed{};
  double secondsLeft = -1;   ///< estimate; negative if unknown
  int slips = 0;             ///< candidates so far that failed in another way
  std::string finding = {};  ///< "m3/slip1", when this candidate is new or smaller there
  int step = 0;              ///< accepted ones: which, 0 is the start; it falls when a person goes back

  KERF_FIELDS(reductionId, reduction, accepted, nodes, inputBytes, outputs, startNodes, bestNodes, tests, elapsed,
              secondsLeft, fingerprint, slips, finding, step)
};

/// What a minification is doing, finer than its verdicts.
struct MinifyWorkEvent {
  enum class Kind { Asked, Answered, ReductionBegins, ReductionEnds };
  Kind kind = Kind::Asked;
  std::string reduction;  ///< of reductions
  int query = 0;          ///< number of the candidate, from 1; 0 for reductions and for verdicts from the cache
  int worker = -1;        ///< Answered: which of the parallel ones
  std::int64_t nodes = 0;
  std::string verdict, fingerprint;  ///< Answered: "passes", "fails" …
  std::chrono::nanoseconds time{};   ///< Answered: of the query
  bool cached = false, accepted = false;

  KERF_FIELDS(kind, reduction, query, worker, nodes, verdict, fingerprint, time, cached, accepted)
};
constexpr MinifyWorkEvent::Kind lastOf(MinifyWorkEvent::Kind) { return MinifyWorkEvent::Kind::ReductionEnds; }

/// A node of a comparison node by node, when it was compared. One in a nested graph may come again, worse.
struct NodeEvent {
  std::string node, target;
  bool same = true;
  double ratio = 0;                  ///< error over what is accepted
  std::int64_t done = 0, total = 0;  ///< nodes; those of nested graphs are not counted
  double secondsLeft = -1;           ///< estimate; negative if unknown

  KERF_FIELDS(node, target, same, ratio, done, total, secondsLeft)
};

/// News of a log that is being followed: a graph, a record, or a compile id whose status changed.
struct FollowEvent {
  enum class Kind { Graph, Record, Compile };
  Kind kind = Kind::Graph;
  std::string name;  ///< of a graph or record
  std::string recordKind;
  std::string stage, compileId, status, failure, frame;
  std::string file;
  int line = 0, rank = -1;

  KERF_FIELDS(kind, name, recordKind, stage, compileId, status, failure, frame, file, line, rank)
};
constexpr FollowEvent::Kind lastOf(FollowEvent::Kind) { return FollowEvent::Kind::Compile; }

using JobEvent = std::variant<ProgressEvent, NoteEvent, MinifyEvent, FollowEvent, NodeEvent, MinifyWorkEvent>;

class JobControl;  // job_control.h

struct Job {
  std::function<void(const JobEvent&)> onEvent = {};
  std::stop_token stop = {};
  std::shared_ptr<JobControl> control = nullptr;  ///< null: nobody asks for more than stopping

  void tell(JobEvent event) const {
    if (onEvent) onEvent(event);
  }
  void warn(std::string text) const { tell(NoteEvent{NoteEvent::Weight::Warning, std::move(text)}); }
  void note(std::string text) const { tell(NoteEvent{NoteEvent::Weight::Note, std::move(text)}); }
  /// False when the work should stop.
  bool progress(const std::string& what, double done) const {
    tell(ProgressEvent{what, done});
    return !stop.stop_requested();
  }
  /// For work that knows nothing of jobs.
  WorkProgress progressOnly() const {
    return {[onEvent = onEvent](const std::string& what, double done) {
              if (onEvent) onEvent(ProgressEvent{what, done});
            },
            stop};
  }
};

/// Answer of requests that only do something.
struct Done {
  int version = 1;
  KERF_FIELDS(version)
};

}  // namespace kerf::workbench
