// What a capture holds, as documents: from an opened one, or from the rows of the store.
#pragma once

#include "app/workbench/captures/capture_source.h"

namespace kerf::inline storage::inline stores {
struct GraphRow;
}

namespace kerf::workbench {

CaptureIndex indexOf(const CaptureSource& source);
Result<CaptureIndex> indexOfStored(Store& store, std::int64_t captureId);

GraphEntry entryOf(const GraphRow& row);
/// The record's entry in the index of `source`.
RecordEntry recordEntry(const CaptureSource& source, std::size_t index);
FusionRow fusionRow(const RecordedFusionGroup& group);

/// Bars in lanes by rank and thread; null if there are no events.
std::shared_ptr<const TimelineDoc> timelineDoc(const std::vector<TimelineEvent>& events);
/// Where the time went, by event name, largest self time first.
std::vector<TimelineTotal> timelineTotals(const std::vector<TimelineEvent>& events);

}  // namespace kerf::workbench
