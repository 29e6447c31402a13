#include "minifier/core/repro_settings.h"

#include <algorithm>

namespace kerf::inline minifier::inline core {

namespace {

constexpr std::string_view dumpingVariables[] = {"TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"};
constexpr std::string_view dumpingConfig[] = {"torch._dynamo.config.repro_after", "torch._dynamo.config.repro_level"};

void removeVariables(std::vector<std::string>& lines) {
  for (std::string& line : lines) {
    for (std::string_view variable : dumpingVariables) {
      if (line.starts_with(fmt::format("os.environ['{}'] =", variable)))
        line = fmt::format("os.environ.pop('{}', None)", variable);
    }
  }
}

void removeConfig(std::vector<std::string>& lines) {
  std::erase_if(lines, [](const std::string& line) {
    return std::ranges::any_of(dumpingConfig, [&](std::string_view entry) { return line.starts_with(entry); });
  });
}

}  // namespace

void stopDumping(ReproEnvelope& envelope) {
  for (auto* lines : {&envelope.headerLines, &envelope.environmentLines, &envelope.configLines}) {
    removeVariables(*lines);
    removeConfig(*lines);
  }
}

bool startsDumping(const ReproEnvelope& envelope) {
  bool starts = false;
  for (const std::string_view line : envelope.headerLines) {
    if (line.starts_with("os.environ['TORCHDYNAMO_REPRO_AFTER'] =")) starts = true;
    if (line.starts_with("os.environ.pop('TORCHDYNAMO_REPRO_AFTER'")) starts = false;
    if (line.starts_with("torch._dynamo.config.repro_after =")) starts = !line.contains("None");
  }
  return starts;
}

}  // namespace kerf::inline minifier::inline core
