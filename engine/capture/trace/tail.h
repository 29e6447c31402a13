// Payload checksums, and how a log that is still being written ends: which of its last lines can be used.
#pragma once

#include "engine/capture/trace/scanner.h"

namespace kerf::inline capture::trace {

/// Payload bytes of one log that are compared with their checksums; beyond it only the last record's are.
inline constexpr std::int64_t checkedBytes = 16 << 20;

/// One flag per record: false if it announces a checksum that its payload does not have. Uses all threads. `checked` is
/// the number of records that were compared, from the first on.
std::vector<char> checkPayloads(std::string_view text, const std::vector<RawRecord>& records, std::size_t& checked);

/// True if the record announces no checksum, or its payload has it.
bool matchesChecksum(std::string_view text, const RawRecord& record);

enum class Tail {
  Whole,      ///< nothing is missing
  Tentative,  ///< ends with a line or as JSON does, but no checksum proves it: cut, or the checksum is wrong or absent
  Cut,        ///< the text stops within the record
};
/// What the last record of a log is; `matches` is its flag from checkPayloads.
Tail judgeTail(std::string_view text, const RawRecord& last, bool matches);

/// The JSON of a record's header line.
inline std::string_view jsonOf(std::string_view text, const RawRecord& record) {
  return text.substr(std::size_t(record.json), std::size_t(record.jsonLength));
}
/// The payload lines with their tabs.
inline std::string_view payloadOf(std::string_view text, const RawRecord& record) {
  return text.substr(std::size_t(record.payload), std::size_t(record.payloadLength));
}

}  // namespace kerf::inline capture::trace
