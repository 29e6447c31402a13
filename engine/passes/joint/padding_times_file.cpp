#include "engine/passes/joint/padding_times_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>

#include <unistd.h>

#include "engine/support/atomic_file.h"
#include "engine/support/hash.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

constexpr std::uintmax_t largestFile = 4 << 20;
constexpr std::size_t checksumDigits = 32, mostProducts = 20'000;

/// Times of another machine say nothing here.
std::string machine() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return fmt::format("{} {}", name.data(), std::thread::hardware_concurrency());
}

std::string lineOf(const std::string& owner, std::string_view key, const PaddingTime& time) {
  const std::string body = fmt::format("{}\t{}\t{}\t{}", owner, key, time.plain, time.padded);
  return fmt::format("{}\t{}\n", hashText(body).hex(), body);
}

std::optional<double> secondsOf(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// The last field of `text`, which is cut off.
std::string_view cutLast(std::string_view& text) {
  const auto tab = text.rfind('\t');
  const std::string_view field = tab == std::string_view::npos ? std::string_view() : text.substr(tab + 1);
  text = text.substr(0, tab == std::string_view::npos ? 0 : tab);
  return field;
}

void readLine(std::string_view line, const std::string& owner, PaddingTimes& times) {
  if (line.size() <= checksumDigits || line[checksumDigits] != '\t') return;
  std::string_view body = line.substr(checksumDigits + 1);
  if (hashText(body).hex() != line.substr(0, checksumDigits)) return;
  const auto padded = secondsOf(cutLast(body)), plain = secondsOf(cutLast(body));
  const std::string_view key = cutLast(body);
  if (plain && padded && !key.empty() && body == owner)
    times.insert_or_assign(std::string(key), PaddingTime{*plain, *padded});
}

}  // namespace

PaddingTimes readPaddingTimes(const std::filesystem::path& file) {
  PaddingTimes times;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || std::filesystem::file_size(file, error) > largestFile || error)
    return times;
  const std::string owner = machine();
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line);) readLine(line, owner, times);
  return times;
}

void writePaddingTimes(const std::filesystem::path& file, const PaddingTimes& times) {
  if (times.size() > mostProducts) return;
  const std::string owner = machine();
  std::string text;
  for (const auto& [key, time] : times) text += lineOf(owner, key, time);
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  const std::array pieces{std::as_bytes(std::span(text))};
  if (const auto written = writeFileAtomically(file, pieces); !written)
    logAt(LogCategory::Passes, LogLevel::Info, "{}", written.error().text());
}

}  // namespace kerf::inline passes
