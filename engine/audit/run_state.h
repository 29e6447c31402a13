// What names of the wrapper stand for while its statements are gone through.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/audit/memory/element_region.h"
#include "engine/audit/syntax/syntax_node.h"

namespace kerf::inline audit {

/// A statement that destroyed elements which had been written.
struct OverwriteEvent {
  int time = 0, line = 0;
  std::string through;  ///< the name of the buffer
  ElementBox box;
};

struct AuditStorage {
  std::string name;  ///< of what it was allocated for
  std::string type;
  std::optional<SymInt> count;  ///< elements; none: not known
  ElementSet written;
  std::vector<OverwriteEvent> overwrites;
  bool isInput = false, isScratch = false;
  int line = 0;
  int viewOf = -1;                    ///< the storage that an operator's result looks at
  std::string stream;                 ///< on which a kernel wrote it last
  int waits = 0;                      ///< how many waits there had been then
  int unreadSince = 0;                ///< line of the last write that nobody has read; 0: none
  std::string unreadBy;               ///< who wrote it
  int firstWrite = 0, lastWrite = 0;  ///< lines
  bool mayBeWritten = false;          ///< of an input: something that is not known was given it
  int assertedLine = 0;               ///< of an input: its first assertion, and what that says
  std::vector<SymInt> assertedSizes, assertedStrides;
  int lastUse = -1, lastLine = 0;  ///< statement that used it under any name, and its line
};

struct AuditTensor {
  int storage = -1;
  bool hasLayout = false;
  std::vector<SymInt> sizes, strides;
  SymInt offset;
  std::string type;

  ElementBox box() const { return ElementBox::strided(sizes, strides, offset); }
};

struct WrapperValue {
  enum class Kind { Unknown, Tensor, Size, Tuple, None };
  Kind kind = Kind::Unknown;
  AuditTensor tensor;
  SymInt size;
  std::shared_ptr<std::vector<WrapperValue>> items;  ///< of a tuple, and of results that are taken apart
  std::string name;                                  ///< under which it is known
  int since = 0;                                     ///< time of its binding, or of the last write through it

  bool isTensor() const { return kind == Kind::Tensor; }
};

struct AuditState {
  std::vector<AuditStorage> storages;
  std::map<std::string, WrapperValue, std::less<>> names;
  std::map<std::string, int, std::less<>> deleted;  ///< name → line
};

}  // namespace kerf::inline audit
