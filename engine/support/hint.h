// Hint: what a user can do about an error. The engine names no option and no menu; each door (command line, window) has a table of
// its own words for every piece of advice.
#pragma once

#include <cstdint>
#include <string>

#include "engine/support/fields.h"

namespace kerf::inline support {

enum class Advice : std::uint8_t {
  None,
  AllowCall,        ///< let the export call `subject`, the dotted name of a function
  BisectByNode,     ///< look for the node instead
  ChooseBackend,    ///< use a backend that generates kernels
  ChooseFormat,     ///< name the format; `subject` is one that fits, or empty
  ChooseStore,      ///< take another file for the store
  CompareGraphs,    ///< compare one graph with another one
  CopyFiles,        ///< import again, with the files copied into the store
  DeleteUsers,      ///< delete what depends on it too
  GiveExpected,     ///< a .safetensors file of expected values may have it
  GivePassOption,   ///< set an option of a pass
  GiveSizes,        ///< give values to symbolic sizes
  GiveTorchOption,  ///< set an option of PyTorch
  ListCaptures,     ///< list the captures of the store
  ListGraphs,       ///< list the graphs of the capture `subject`
  ListIds,          ///< list what is in the store
  ListRecords,      ///< list the records of a capture
  MinifyGraph,      ///< minify the graph with PyTorch as oracle
  MoveStore,        ///< check the store, move what is whole to another one
  NamePython,       ///< choose a Python that can import torch
  RaiseMemory,      ///< allow more memory
  RecordPasses,     ///< run and record the passes of the graph `subject`
  RestoreItems,     ///< bring back the deleted items `subject`
  ShowRecord,       ///< print the record `subject`
  Train,            ///< run a training step
  UpdateStore,      ///< open the store `subject` once, which brings it to this Kerf's schema
  VerifyStore,      ///< check the store: all damage is listed
};

constexpr Advice lastOf(Advice) { return Advice::VerifyStore; }

struct Hint {
  Advice advice = Advice::None;
  std::string subject = {};  ///< what the advice is about: an id, a file, a function; empty where it needs none

  KERF_FIELDS(advice, subject)
};

}  // namespace kerf::inline support
