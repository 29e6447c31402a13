// How jobs of the session are named in its queue.
#pragma once

#include <QString>

#include "engine/support/result.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline session {

/// "minify:1/0/joint": a job on one graph.
inline QString jobKey(const char* what, const GraphKey& where) {
  return QString("%1:%2/%3/%4").arg(what).arg(where.capture).arg(where.graph).arg(text(where.aotStage));
}

inline bool cancelled(const Error& error) { return error.code == ErrorCode::Cancelled; }

}  // namespace kerf::ui::inline session
