// What settings say of a frame that no compiled form fits.
#pragma once

#include <string>

#include "engine/dynamo/convert_frame.h"

namespace kerf::inline dynamo {

/// What torch.compiler.set_stance says; "default" where nothing does.
std::string currentStance();

/// Each sets Python's error and gives null. torch._dynamo.config.error_on_recompile: the frame would be compiled again.
PyObject* raiseRecompile();
/// The stance "fail_on_recompile"; `newest`: "0/1", the frame's newest compiled form, of which the log says why it does not
/// fit; empty: it has none.
PyObject* raiseByStance(const FrameView& frame, const std::string& newest);
/// The frame has as many compiled forms as it may have, and `setting` ("fullgraph=True") makes that an error.
PyObject* raiseAtLimit(const char* setting);

}  // namespace kerf::inline dynamo
