// What a program finds when its compiled functions are traced: torch with torch._C._dynamo.
#pragma once

#include "engine/python/program.h"

namespace kerf::inline dynamo {

ProgramEnvironment dynamoEnvironment();

}  // namespace kerf::inline dynamo
