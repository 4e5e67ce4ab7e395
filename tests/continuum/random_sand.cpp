#include "continuum/random_sand.hpp"

#include <random>

namespace drystone::testing {

template <int d>
Sand<d> random_sand(int particles, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    Sand<d> sand;
    for (int k = 0; k < d; ++k) sand.cell[k] = 0.1 * (k + 2);
    const auto vector = [&] {
        Vec<d> x;
        for (int k = 0; k < d; ++k) x[k] = normal(engine);
        return x;
    };
    Particles<d>& p = sand.particles;
    for (int i = 0; i < particles; ++i) {
        p.id.push_back(p.next_id++);
        p.volume.push_back(1e-4 * (1 + std::abs(normal(engine))));
        // Not near the faces of cells, where particles may count to the cell beyond (sliver).
        const Vec<d> x = 3 * vector(), cell = x.array().floor();
        p.position.push_back((cell + Vec<d>::Constant(0.1) + 0.8 * (x - cell)).cwiseProduct(sand.cell));
        p.velocity.push_back(vector());
        Mat<d> C;
        for (int k = 0; k < d; ++k) C.col(k) = vector();
        p.gradient.push_back(C);
        p.frame.push_back(Mat<d>::Identity());
    }
    return sand;
}

template <int d>
double hat(const Vec<d>& y, const Vec<d>& width, const Vec<d>& x, Vec<d>* gradient) {
    double value = 1;
    std::array<double, d> along, slope;
    for (int k = 0; k < d; ++k) {
        const double s = (x[k] - y[k]) / width[k];
        along[k] = std::max(0.0, 1 - std::abs(s));
        slope[k] = std::abs(s) >= 1 ? 0.0 : (s < 0 ? 1.0 : -1.0) / width[k];
        value *= along[k];
    }
    if (gradient != nullptr) {
        for (int k = 0; k < d; ++k) {
            (*gradient)[k] = slope[k];
            for (int m = 0; m < d; ++m)
                if (m != k) (*gradient)[k] *= along[m];
        }
    }
    return value;
}

template Sand<2> random_sand(int, unsigned);
template Sand<3> random_sand(int, unsigned);
template double hat(const Vec<2>&, const Vec<2>&, const Vec<2>&, Vec<2>*);
template double hat(const Vec<3>&, const Vec<3>&, const Vec<3>&, Vec<3>*);

}  // namespace drystone::testing
