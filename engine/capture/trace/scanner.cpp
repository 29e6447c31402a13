#include "engine/capture/trace/scanner.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <openssl/evp.h>

#include "engine/capture/trace/header.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::int64_t maxRecords = 1'000'000;
constexpr std::size_t maxPrefix = 4096;      ///< bytes before the JSON of a header line
constexpr std::size_t maxForeignHead = 256;  ///< bytes that a launcher may have put before each header

bool isDigit(char character) { return character >= '0' && character <= '9'; }

/// "0000 00:00:00.000000 ": '0' stands for a digit, '.' for any byte.
bool matches(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '0' ? !isDigit(text[i]) : (shape[i] != '.' && shape[i] != text[i])) return false;
  }
  return true;
}

/// Offset of the JSON behind "<digits> <path>:<digits>] " starting at `at`; npos if the text has another shape.
std::size_t jsonBehindPath(std::string_view line, std::size_t at) {
  const std::size_t digits = at;
  while (at < line.size() && isDigit(line[at])) ++at;
  if (at == digits) return std::string_view::npos;
  const std::string_view head = line.substr(0, std::min(line.size(), at + maxPrefix));
  const std::size_t end = head.find("] ", at);
  if (end == std::string_view::npos || end + 2 >= line.size() || line[end + 2] != '{') return std::string_view::npos;
  std::size_t number = end;
  while (number > at && isDigit(head[number - 1])) --number;
  return number < end && number > at + 1 && head[number - 1] == ':' ? end + 2 : std::string_view::npos;
}

std::size_t jsonOffsetFrom(std::string_view line, std::size_t at) {
  constexpr std::string_view shape = "0000 00:00:00.000000 ";
  if (at >= line.size() || std::string_view("VIWEC").find(line[at]) == std::string_view::npos)
    return std::string_view::npos;
  if (!matches(line.substr(at + 1), shape)) return std::string_view::npos;
  return jsonBehindPath(line, at + 1 + shape.size());
}

class Scanner {
 public:
  Scanner(std::string_view text, int firstLine, const ImportLimits& limits, ScanReport& report)
      : m_text(text), m_firstLine(firstLine), m_limits(limits), m_report(report) {}

  Result<std::vector<RawRecord>> run() {
    std::size_t at = 0;
    int number = m_firstLine;
    while (at < m_text.size()) {
      const auto* end = static_cast<const char*>(std::memchr(m_text.data() + at, '\n', m_text.size() - at));
      const bool ended = end != nullptr;
      const std::size_t length = ended ? std::size_t(end - m_text.data()) - at : m_text.size() - at;
      if (std::int64_t(length) > m_limits.lineBytes) return fail(lineError(ErrorCode::TooLarge, number, length));
      KERF_CHECK(takeLine(at, length, number, ended));
      at += length + 1;
      if (ended) ++number;
    }
    m_report.lines += number - m_firstLine;
    return std::move(m_records);
  }

 private:
  Result<void> takeLine(std::size_t at, std::size_t length, int number, bool ended) {
    if (length == 0) return {};
    if (m_text[at] == '\t') {
      takePayload(at, length, number, ended);
      return {};
    }
    const std::string_view line = m_text.substr(at, length);
    const std::size_t json = traceJsonOffset(line);
    if (json == std::string_view::npos) {
      takeNoise(line, number, ended);
      return {};
    }
    if (std::int64_t(m_records.size()) >= recordLimit(m_limits)) return tooManyRecords(number);
    RawRecord record;
    record.begin = std::int64_t(at);
    record.json = std::int64_t(at + json);
    record.jsonLength = std::int64_t(length - json);
    record.line = number;
    record.ended = ended;
    m_records.push_back(record);
    m_insideRecord = true;
    return {};
  }

  void takePayload(std::size_t at, std::size_t length, int number, bool ended) {
    if (!m_insideRecord) {
      if (m_report.orphanLines++ == 0) m_report.firstOrphan = number;
      return;
    }
    RawRecord& record = m_records.back();
    if (record.payloadLine == 0) {
      record.payload = std::int64_t(at);
      record.payloadLine = number;
    }
    record.payloadLength = std::int64_t(at + length) - record.payload;
    record.ended = ended;
  }

  /// Payload lines behind it are nobody's: the noise may have been their header.
  void takeNoise(std::string_view line, int number, bool ended) {
    if (line == "\r") return;
    m_insideRecord = false;
    if (!ended) {
      m_report.endsInHalfLine = true;
      return;
    }
    if (m_report.noiseLines++ == 0) m_report.firstNoise = number;
  }

  Error lineError(ErrorCode code, int number, std::size_t length) const {
    return {code, fmt::format("a line of {} bytes is above the limit of {}", length, m_limits.lineBytes),
            {},   number,
            {},   {}};
  }

  std::string_view m_text;
  int m_firstLine;
  const ImportLimits& m_limits;
  ScanReport& m_report;
  std::vector<RawRecord> m_records;
  bool m_insideRecord = false;
};

/// Calls use(line without its tab) for each payload line.
template <class Use>
void forEachPayloadLine(std::string_view raw, Use use) {
  for (std::size_t at = 0; at < raw.size();) {
    const auto* end = static_cast<const char*>(std::memchr(raw.data() + at, '\n', raw.size() - at));
    const std::size_t stop = end == nullptr ? raw.size() : std::size_t(end - raw.data());
    if (raw[at] == '\t') use(raw.substr(at + 1, stop - at - 1));
    at = stop + 1;
  }
}

using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

std::string hexOf(const unsigned char* bytes, unsigned int count) {
  std::string text;
  for (unsigned int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

std::int64_t recordLimit(const ImportLimits& limits) { return std::min(maxRecords, limits.nodes); }

std::unexpected<Error> tooManyRecords(int line) {
  return fail(Error{ErrorCode::TooLarge, "the log holds too many records; split it", {}, line, {}, {}});
}

std::size_t traceJsonOffset(std::string_view line) {
  const std::size_t direct = jsonOffsetFrom(line, 0);
  if (direct != std::string_view::npos) return direct;
  const std::size_t limit = std::min(line.size(), maxForeignHead);
  for (std::size_t at = 1; at < limit; ++at) {
    if (line[at - 1] != ' ' && line[at - 1] != ':' && line[at - 1] != ']') continue;
    const std::size_t found = jsonOffsetFrom(line, at);
    if (found != std::string_view::npos) return found;
  }
  return std::string_view::npos;
}

Result<std::vector<RawRecord>> scanPart(std::string_view text, int firstLine, const ImportLimits& limits,
                                        ScanReport& report) {
  return Scanner(text, firstLine, limits, report).run();
}

std::string withoutTabs(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  bool first = true;
  forEachPayloadLine(raw, [&](std::string_view line) {
    if (!first) text.push_back('\n');
    text += line;
    first = false;
  });
  return text;
}

bool payloadMatches(std::string_view raw, std::string_view md5Hex) {
  const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_md5(), nullptr) != 1) return true;  // no MD5 here: nothing to say
  bool first = true;
  forEachPayloadLine(raw, [&](std::string_view line) {
    if (!first) EVP_DigestUpdate(digest.get(), "\n", 1);
    EVP_DigestUpdate(digest.get(), line.data(), line.size());
    first = false;
  });
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int count = 0;
  EVP_DigestFinal_ex(digest.get(), bytes, &count);
  return hexOf(bytes, count) == md5Hex;
}

std::string_view announcedChecksum(std::string_view json) {
  constexpr std::string_view key = "\"has_payload\": \"";
  const std::string_view line = json.substr(0, json.find_last_not_of(" \t\r") + 1);
  if (line.ends_with("\"}")) {  // where PyTorch writes it: last
    const std::string_view body = line.substr(0, line.size() - 2);
    const std::size_t open = std::min(body.rfind('"') + 1, body.size());
    if (body.substr(0, open).ends_with(key)) return body.substr(open);
  }
  constexpr std::string_view name = "has_payload";
  if (::memmem(json.data(), json.size(), name.data(), name.size()) == nullptr) return {};
  const auto header = parseTraceHeader(json);
  return header ? header->checksum : std::string_view();
}

}  // namespace kerf::inline capture::trace
