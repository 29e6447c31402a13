// Splits a TORCH_TRACE log into records: a header line and the tab-indented payload lines behind it (formats B.1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture::trace {

/// Where one record lies in the scanned text; offsets in bytes from its start.
struct RawRecord {
  std::int64_t begin = 0;  ///< of the header line
  std::int64_t json = 0;   ///< of the JSON in it
  std::int64_t jsonLength = 0;
  std::int64_t payload = 0;        ///< of the first payload line; tabs are still there
  std::int64_t payloadLength = 0;  ///< without the last line's end; 0: no payload lines
  int line = 0;                    ///< 1-based line of the header
  int payloadLine = 0;             ///< of the first payload line; 0: none
  bool ended = true;               ///< false: the text stops within the record's last line
};

/// Lines that are no part of a record: blank ones are not counted.
struct ScanReport {
  std::int64_t noiseLines = 0, orphanLines = 0;  ///< neither header nor payload; payload without a header
  int firstNoise = 0, firstOrphan = 0;           ///< 1-based lines, 0: none
  bool endsInHalfLine = false;                   ///< the last line is no record and does not end
  int lines = 0;                                 ///< that end within the text
};

/// Offset of the JSON in a header line ("V1206 15:18:15.925000 1500233 torch/x.py:12] {…"); npos if it is none.
std::size_t traceJsonOffset(std::string_view line);

/// Splits `text` on all threads; its first line has number `firstLine`. TooLarge for an overlong line or too many
/// records, Cancelled when `progress` says so (it gets the fraction scanned).
Result<std::vector<RawRecord>> scanTrace(std::string_view text, int firstLine, const ImportLimits& limits,
                                         const ImportProgress& progress, ScanReport& report);

/// The same for a part of a log, on this thread.
Result<std::vector<RawRecord>> scanPart(std::string_view text, int firstLine, const ImportLimits& limits,
                                        ScanReport& report);

/// Most records of one log, and the refusal of more.
std::int64_t recordLimit(const ImportLimits& limits);
std::unexpected<Error> tooManyRecords(int line);

/// The payload lines without their tabs, joined by line ends; lines without a tab are noise and left out.
std::string withoutTabs(std::string_view raw);

/// Compares the payload with the hex MD5 that its header announces.
bool payloadMatches(std::string_view raw, std::string_view md5Hex);

/// TraceHeader::checksum of a header's JSON. At its end, where PyTorch writes it, it is found without reading the rest.
std::string_view announcedChecksum(std::string_view json);

}  // namespace kerf::inline capture::trace
