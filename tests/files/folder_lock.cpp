#include "drystone/files/folder_lock.hpp"

#include "drystone/base/error.hpp"
#include "support/message_of.hpp"
#include "support/scratch.hpp"

#include <optional>

namespace drystone::testing {
namespace {

TEST(FolderLock, IsHeldByOneUntilItGoes) {
    const Scratch scratch;
    std::optional<FolderLock> first(scratch.folder());
    const std::string message = message_of([&] { const FolderLock second(scratch.folder()); });
    EXPECT_NE(message.find("another run is writing there"), std::string::npos) << message;
    first.reset();
    EXPECT_NO_THROW(const FolderLock second(scratch.folder()));
}

TEST(FolderLock, WhereThereIsNoFolderThereIsNone) {
    const Scratch scratch;
    EXPECT_NO_THROW(const FolderLock lock(scratch.file("nowhere")));
}

}  // namespace
}  // namespace drystone::testing
