// buildCaptureDoc: what the window shows of an opened capture, made on a worker thread.
#pragma once

#include "engine/capture/common/capture.h"
#include "ui/session/capture_docs.h"

namespace kerf::ui::inline session {

CaptureDocPtr buildCaptureDoc(int id, const QString& path, const Capture& capture);

/// Text of record `index`, JSON indented; at most some MiB of it. The title says what could not be read.
RecordDocPtr readRecord(int id, const Capture& capture, int index);

}  // namespace kerf::ui::inline session
