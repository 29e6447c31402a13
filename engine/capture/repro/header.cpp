#include "engine/capture/repro/header.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/capture/common/symbol_range.h"

namespace kerf::inline capture {
namespace {

/// `name = integer` at the start of a line, in front of any comment.
std::optional<std::pair<std::string, std::int64_t>> symbolLine(std::string_view line) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  const std::string_view name = line.substr(0, equals);
  const auto legal = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), legal) || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
    return std::nullopt;
  const std::string_view digits = trimmed(line.substr(equals + 3, line.find('#', equals) - equals - 3));
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::pair{std::string(name), value};
}

bool isConfigLine(std::string_view line) {
  return line.starts_with("torch.") && line.find("config.") != std::string_view::npos &&
         line.find('=') != std::string_view::npos;
}

void readVersion(std::string_view line, ReproEnvelope& envelope) {
  struct Row {
    std::string_view prefix;
    std::string ReproEnvelope::* field;
  };
  static constexpr Row rows[] = {{"# torch version: ", &ReproEnvelope::torchVersion},
                                 {"# torch cuda version: ", &ReproEnvelope::cudaVersion},
                                 {"# torch git version: ", &ReproEnvelope::gitVersion}};
  for (const Row& row : rows)
    if (line.starts_with(row.prefix)) envelope.*row.field = trimmed(line.substr(row.prefix.size()));
}

}  // namespace

std::vector<std::string> copyLines(const SourceText& source, LineRange lines) {
  if (lines.empty()) return {};
  return {source.lines.begin() + std::ptrdiff_t(lines.first), source.lines.begin() + std::ptrdiff_t(lines.last)};
}

void readHeader(const SourceText& source, LineRange lines, ReproEnvelope& envelope, Symbols& symbols) {
  envelope.headerLines = copyLines(source, lines);
  for (std::size_t index = lines.first; index < lines.last; ++index) {
    if (source.inString[index] != 0 || source.inBracket[index] != 0) continue;
    const std::string_view line = source.lines[index];
    if (line.starts_with("os.environ"))
      envelope.environmentLines.emplace_back(line);
    else if (isConfigLine(line))
      envelope.configLines.emplace_back(line);
    else if (line.starts_with('#'))
      readVersion(line, envelope);
    else if (auto symbol = symbolLine(line)) {
      symbols[symbol->first] = symbol->second;
      if (const std::size_t range = line.find("# VR["); range != std::string_view::npos)
        envelope.symbolRanges.push_back(symbolRange(symbol->first, line.substr(range)));
      envelope.symbols.push_back(std::move(*symbol));
    }
  }
}

}  // namespace kerf::inline capture
