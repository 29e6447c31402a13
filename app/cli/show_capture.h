// Showing a capture as a whole, one of its records, or its fusion groups.
#pragma once

#include "app/cli/capture_source.h"
#include "app/cli/context.h"
#include "engine/capture/common/details.h"

namespace kerf::cli {

/// Kinds, compile ids with status, graphs, and how many records of each kind: as text, or (with --json) as JSON.
Result<std::string> overviewText(Context& context, const std::string& capture);

/// A record and the capture that it is read from.
struct RecordSource {
  CaptureSource capture;
  std::size_t index = 0;
  const CaptureRecord& record() const { return capture.capture.details->records[index]; }
};
/// "c3/r17", or "trace.log#r17" and "trace.log#name" where no graph has that name; nothing when `text` is no record.
Result<std::optional<RecordSource>> resolveRecord(Context& context, const std::string& text);
/// The payload, or with --json a description with it.
Result<std::string> recordText(const Context& context, const std::string& id, const CaptureRecord& record);

/// Fusion groups of the whole capture, or of one compile id and rank.
std::string fusionText(const CaptureDetails* details, const std::string& compileId, int rank);
/// Text or JSON of fusionText, as the context asks.
Json fusionJson(const CaptureDetails* details, const std::string& compileId, int rank);

}  // namespace kerf::cli
