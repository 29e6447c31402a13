#include "minifier/report/injected_fault.h"

#include <string_view>

namespace kerf::inline minifier::inline report {

std::string injectedFault(const ReproEnvelope& envelope) {
  constexpr std::string_view setting = "inject_relu_bug_TESTING_ONLY", quotes = "'\"";
  for (const std::string_view line : envelope.configLines) {
    const std::size_t at = line.find(setting);
    if (at == std::string_view::npos) continue;
    const std::size_t begin = line.find_first_of(quotes, at);
    const std::size_t end = begin == std::string_view::npos ? begin : line.find_first_of(quotes, begin + 1);
    if (end != std::string_view::npos) return "relu=" + std::string(line.substr(begin + 1, end - begin - 1));
  }
  return {};
}

std::string faultOfKerfAlone(const std::string& fault, const ReproEnvelope& envelope) {
  return fault == injectedFault(envelope) ? std::string() : fault;
}

}  // namespace kerf::inline minifier::inline report
