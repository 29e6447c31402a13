// What a program sets in torch._dynamo.config.
#pragma once

namespace kerf::inline dynamo {

/// A number or truth of torch._dynamo.config; `fallback` where it is not there.
long dynamoSetting(const char* name, long fallback);

}  // namespace kerf::inline dynamo
