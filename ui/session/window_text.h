// Errors of the workbench with what to do about them in the window's words.
#pragma once

#include "engine/support/error.h"
#include "ui/session/text.h"

namespace kerf::ui::inline session {

/// What to do, as the window calls it; empty where there is no advice, or none that the window can follow.
QString hintText(const Hint& hint);
/// "… cannot import torch (…); name a Python that can in the settings of Minify".
QString windowText(const Error& error);

}  // namespace kerf::ui::inline session
