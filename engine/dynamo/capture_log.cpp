#include "engine/dynamo/capture_log.h"

namespace kerf::inline dynamo {

CaptureLog& captureLog() {
  static CaptureLog log;
  return log;
}

std::string reasonText(const std::string& type, const std::string& explanation, const std::vector<std::string>& hints,
                       const std::string& context) {
  std::string text = type + "\n  Explanation: " + explanation;
  for (const std::string& hint : hints) text += "\n  Hint: " + hint;
  return text + "\n\n  Developer debug context: " + context;
}

}  // namespace kerf::inline dynamo
