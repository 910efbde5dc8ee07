mod common;
#[path = "slim/main.rs"]
mod cutting_planes;
mod oracles {
    pub fn rescaled(small: &crate::common::Small) -> crate::common::explicit::Explicit {
        let mut problem = small.explicit();
        for corner in problem.examples.iter_mut().flatten() {
            let loss = corner.exact_loss;
            corner.exact_psi.iter_mut().for_each(|psi| *psi = *psi * loss);
            corner.psi = corner.exact_psi.iter().map(|psi| psi.float()).collect();
        }
        problem
    }
}
