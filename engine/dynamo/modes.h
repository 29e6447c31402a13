// Modes that a program enters while it is traced: autocast and inference mode are nodes of the graph.
#pragma once

#include <optional>
#include <vector>

#include "engine/dynamo/variable_tracker.h"

namespace kerf::inline dynamo {

class FrameTracer;

/// One that is entered.
struct EnteredMode {
  Ref manager;  ///< the traced context manager
  Ref node;     ///< a proxy of what the entering node gives
  Ref real;     ///< of autocast: entered for real, so that calls on examples give its dtypes
  bool gradBefore = true;
  const char* exitTarget = nullptr;
};

class TracedModes {
 public:
  explicit TracedModes(FrameTracer& tracer) : m_tracer(tracer) {}
  ~TracedModes();
  TracedModes(const TracedModes&) = delete;
  TracedModes& operator=(const TracedModes&) = delete;
  /// The answer of __enter__ or __exit__ of such a manager; nothing for all other callables.
  std::optional<VariableTracker> call(PyObject* callable);
  /// Leaves all of them: the graph ends here.
  void leaveAll();
  bool hasAutocast() const;

 private:
  VariableTracker enter(PyObject* manager, bool autocast);
  void leave(std::size_t index);
  FrameTracer& m_tracer;
  std::vector<EnteredMode> m_entered;
};

/// Whether a graph may end inside a with-block of this manager: it is entered again afterwards.
bool isRestorableManager(PyObject* manager);
/// kerf's functions that rewritten frames call around the instruction at which a graph ends; of a bound __exit__.
Ref enterAgainFunction();
Ref leaveFunction();

}  // namespace kerf::inline dynamo
