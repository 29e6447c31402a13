#include "minifier/core/repro_settings.h"

#include <algorithm>

namespace kerf {

namespace {

constexpr std::string_view DumpingVariables[] = {"TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"};
constexpr std::string_view DumpingConfig[] = {"torch._dynamo.config.repro_after", "torch._dynamo.config.repro_level"};

void removeVariables(std::vector<std::string>& lines) {
  for (std::string& line : lines) {
    for (std::string_view variable : DumpingVariables) {
      if (line.starts_with(fmt::format("os.environ['{}'] =", variable)))
        line = fmt::format("os.environ.pop('{}', None)", variable);
    }
  }
}

void removeConfig(std::vector<std::string>& lines) {
  std::erase_if(lines, [](const std::string& line) {
    return std::ranges::any_of(DumpingConfig, [&](std::string_view entry) { return line.starts_with(entry); });
  });
}

}  // namespace

void stopDumping(ReproEnvelope& envelope) {
  for (auto* lines : {&envelope.headerLines, &envelope.environmentLines, &envelope.configLines}) {
    removeVariables(*lines);
    removeConfig(*lines);
  }
}

}  // namespace kerf
