// Impulses carried from one step to the next by the contact's key.
#pragma once

#include "drystone/contact/assemble.hpp"

namespace drystone {

/// What is remembered: sorted by key, as the contacts were. Impulses in world axes, since a contact's tangents may
/// turn.
template <int d>
struct WarmStart {
    std::vector<ContactKey> key;
    std::vector<Vec<d>> impulse;  ///< r in world axes, without the pull of cohesive contacts, N s
    std::vector<Spin<d>> torque;  ///< likewise, N m s; empty where no contact bears torques
    Vector joints;                ///< impulses of the joints' blocks, in the order of the scene
    double h = 0;                 ///< step in which they acted, s
};

/// The start for the present problem: impulses of contacts that were there before, scaled to the present step; 0 for
/// new ones. The present pull of cohesive contacts is added. `joints`: numbers at the end of r that are of joints.
template <int d>
void recall(const WarmStart<d>& memory, const ContactSet<d>& contacts, const ConeProblem& problem,
            Eigen::Index joints, double h, Vector& r, int threads = 1);

/// `ours`: by contact, whether it is remembered (empty: all are).
template <int d>
void remember(const ContactSet<d>& contacts, const ConeProblem& problem, Eigen::Index joints, double h,
              const Vector& r, WarmStart<d>& memory, std::span<const std::uint8_t> ours = {},
              int threads = 1);

/// Springs across the normal are stretched as the last step left them: by the impulses `r` that were recalled. (Those
/// along the normal are stretched by the overlap, which is where the bodies are.)
template <int d>
void stretch_springs(const ContactSet<d>& contacts, const Vector& r, ConeProblem& problem);

}  // namespace drystone
