// Context: what every command shares: output form, the workbench, and interruption.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "app/cli/progress.h"
#include "app/workbench/workbench.h"

namespace kerf::cli {

using Json = nlohmann::ordered_json;
using namespace kerf::workbench;  // the types of requests and answers

struct Context {
  bool json = false;
  bool verbose = false;
  int verbosity = 0;      ///< how often -v was given
  std::string storePath;  ///< --store; empty: the user's own

  Workbench& bench();
  /// Asks the workbench. Progress goes to stderr as a line, notes and warnings as lines; other events to `own`. Ctrl-C
  /// and SIGTERM stop the work, which then ends cleanly by itself.
  template <class Request>
  Result<typename Request::Answer> perform(const Request& request,
                                           const std::function<void(const JobEvent&)>& own = {}) {
    Progress progress;
    return bench().perform(request, job(progress, own));
  }
  /// Whether a result could not be stored; a warning has said so.
  bool unstored() const { return m_bench && m_bench->unstored(); }
  /// The same with a progress line that the caller writes too.
  Job job(Progress& progress, std::function<void(const JobEvent&)> own) const;

 private:
  std::unique_ptr<Workbench> m_bench;
};

/// Prints a JSON object and a newline to stdout, in ASCII. Text that is not UTF-8 is replaced, NaN and infinities
/// become strings.
void printJson(const Json& object);
/// An object on one line, at once.
void printJsonLine(const Json& object);
/// A number for JSON: NaN and infinities as "nan", "inf", "-inf".
Json number(double value);
/// null instead of an empty text.
Json orNull(const std::string& text);
double milliseconds(std::chrono::nanoseconds time);

}  // namespace kerf::cli
