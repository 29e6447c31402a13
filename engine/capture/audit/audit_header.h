// Lines of module level that an export may hold. Private to the auditor.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

/// "import torch", "from torch.nn import *", …, in this spelling.
bool isAllowedImport(std::string_view line);
/// The names that such a line binds, with blanks between.
std::string importedNames(std::string_view line);
/// Whether `path` ("torch._inductor.config.inplace_buffers") may be set; `literal` is the source of its value.
bool isAllowedConfig(std::string_view path, std::string_view literal);
/// Whether os.environ[name] may be set to this.
bool isAllowedEnvironment(std::string_view name, std::string_view value);
/// The text with blanks in place of the lines that PyTorch's own writer copies into every repro: they are known whole.
std::string withoutKnownBlocks(std::string_view text);

}  // namespace kerf::inline capture
