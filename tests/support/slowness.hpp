// By how much a test that draws many cases may draw fewer where sanitisers slow it down.
#pragma once

namespace drystone::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int slowness = 10;
#else
inline constexpr int slowness = 1;
#endif

}  // namespace drystone::testing
