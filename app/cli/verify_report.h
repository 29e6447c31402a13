// A verification for people and for scripts.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

Json verificationJson(const VerifyRequest& request, const Verification& verification);
/// `all`: every value of every pair and the mapping of nodes, not only the worst.
void printVerification(const Verification& verification, bool all);

}  // namespace kerf::cli
