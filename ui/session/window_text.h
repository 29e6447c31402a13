// Errors of the workbench in the window's words: what they advise is named as it is called there, not as an option of a
// command.
#pragma once

#include "engine/support/error.h"
#include "ui/session/text.h"

namespace kerf::ui::inline session {

/// "… cannot import torch (…); name a Python that can in the settings of Minify".
QString windowText(const Error& error);
QString windowText(std::string_view said);

}  // namespace kerf::ui::inline session
