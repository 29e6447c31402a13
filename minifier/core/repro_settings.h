// Settings of PyTorch's own minifier in the text around a repro.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline minifier::inline core {

/// Takes back what switches PyTorch's dumping and minifying on (TORCHDYNAMO_REPRO_AFTER, TORCHDYNAMO_REPRO_LEVEL and
/// the config entries of the same names), also where the user's environment sets it. As long as they are set, running a
/// repro dumps and judges again and writes over the repro itself (pytorch/pytorch issue 156437), and `minifier-query`
/// calls every graph good, because its comparison ends in the inner minifier's exception; PyTorch's own repros have
/// removed the variables since PR 184077.
void stopDumping(ReproEnvelope& envelope);

/// Whether running the repro would dump: a line switches it on, and no later one takes it back.
bool startsDumping(const ReproEnvelope& envelope);

}  // namespace kerf::inline minifier::inline core
