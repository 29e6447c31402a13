// How many processes judge at once where the user does not say.
#pragma once

namespace kerf::cli {

/// By cores, of which two stay free where there are more than four, and by 2 GB of memory each; at least 2, at most 64.
int usualJobs();

}  // namespace kerf::cli
