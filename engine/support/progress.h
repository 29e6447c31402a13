// WorkProgress: how long work says how far it is, and hears that it should stop.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

namespace kerf::inline support {

struct WorkProgress {
  std::function<void(const std::string& what, double done)> tell = {};  ///< done: 0 to 1; empty: nobody listens
  std::stop_token stop = {};

  /// False when the work should stop.
  bool step(const std::string& what, double done) const {
    if (tell) tell(what, done);
    return !stop.stop_requested();
  }
};

}  // namespace kerf::inline support
