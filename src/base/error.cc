#include "layard/error.h"

#include <array>

#include "base/checks.h"

namespace layard {
namespace {

using enum ErrorCode;

// docs/errors.md shows the same rows; Errors.TableComplete compares the two.
constexpr std::array<ErrorInfo, 14> kTable{{
    {kUnsupportedModel, "UnsupportedModelError", 422, 2, 1,
     "use a registered name, a models file, or a folder in the published layout"},
    {kInvalidRequest, "InvalidRequestError", 422, 2, 2,
     "correct the named field and send it again"},
    {kUnsupportedShape, "UnsupportedShapeError", 422, 2, 3,
     "shorten the text or use a device that takes any length"},
    {kBackendUnavailable, "BackendUnavailableError", 503, 2, 4,
     "install what the message names, go online, or choose another device"},
    {kArtifact, "ArtifactError", 503, 2, 5, "see the message"},
    {kArtifactMissing, "ArtifactMissingError", 503, 2, 6, "build or fetch the artifact"},
    {kArtifactRevision, "ArtifactRevisionError", 503, 2, 7,
     "rebuild or download for this revision of the checkpoint"},
    {kArtifactIntegrity, "ArtifactIntegrityError", 503, 2, 8,
     "the file is damaged: download or rebuild it"},
    {kArtifactParity, "ArtifactParityError", 503, 2, 9, "rebuild; do not use this artifact"},
    {kComputeUnitMismatch, "ComputeUnitMismatchError", 503, 2, 10,
     "rebuild for the unit that is to run it"},
    {kOverloaded, "OverloadedError", 503, 2, 11, "try again after the stated wait"},
    {kCancelled, "CancelledError", 503, 2, 12, "the caller took the request back"},
    {kIo, "IoError", 500, 2, 13, "check the path, its permissions and the free space"},
    {kInternal, "InternalError", 500, 2, 14, "please report this with the output of layard info"},
}};

}  // namespace

std::span<const ErrorInfo> error_table() { return kTable; }

const ErrorInfo& error_info(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  LAYARD_CHECK(index < kTable.size());
  return kTable[index];
}

}  // namespace layard
