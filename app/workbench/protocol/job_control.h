// JobControl: wishes of a person to a request that is under way, beside the wish to stop.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/support/fields.h"

namespace kerf::workbench {

/// What a search may be asked between two of its queries.
struct ControlMessage {
  enum class Wish { Pause, Resume, Undo };
  Wish wish = Wish::Pause;
  int step = 0;  ///< Undo: the accepted step to go back to, MinifyEvent::step

  KERF_FIELDS(wish, step)
};
constexpr ControlMessage::Wish lastOf(ControlMessage::Wish) { return ControlMessage::Wish::Undo; }

/// Takes wishes from any thread. They wait until somebody listens or takes them, so none is lost that comes early.
class JobControl {
 public:
  using Listener = std::function<void(const ControlMessage&)>;

  void send(const ControlMessage& message);
  /// The oldest wish that nobody has heard; nothing if there is none.
  std::optional<ControlMessage> take();
  /// `listener` hears all wishes, in order, on the thread that sends them; those that waited at once. It must not call
  /// back. An empty one ends it: when this has returned the old one is not called any more.
  void listen(Listener listener);

 private:
  std::mutex m_mutex;
  std::deque<ControlMessage> m_waiting;
  Listener m_listener;
};

}  // namespace kerf::workbench
