//! Paged KV cache: blocks of tokens, shared by sequences that begin alike.
//!
//! A block in use has at least one owner. A block without owner is free, but may still hold what it held: it is found by its
//! hash until it is handed out again, the longest unused first (as vLLM's free queue does).

use std::collections::HashMap;

/// Index of a block.
pub type BlockId = u32;

const NONE: u32 = u32::MAX;

/// A fixed number of blocks.
pub struct KvPool {
    blocks: Vec<Block>,
    /// Blocks that can be found by content: in use or free.
    by_hash: HashMap<u64, BlockId>,
    /// Ends of the list of free blocks, the next to be handed out at the head.
    head: u32,
    tail: u32,
    free: usize,
}

#[derive(Clone, Copy)]
struct Block {
    owners: u32,
    hash: Option<u64>,
    before: u32,
    after: u32,
}

impl KvPool {
    /// A pool of `count` free, empty blocks.
    pub fn new(count: u32) -> Self {
        let empty = Block {
            owners: 0,
            hash: None,
            before: NONE,
            after: NONE,
        };
        let mut pool = Self {
            blocks: vec![empty; count as usize],
            by_hash: HashMap::new(),
            head: NONE,
            tail: NONE,
            free: 0,
        };
        (0..count).for_each(|id| pool.push_free(id));
        pool
    }

    /// All blocks.
    pub fn total(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks without owner.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Share of blocks that have an owner.
    pub fn usage(&self) -> f64 {
        1.0 - self.free as f64 / self.total().max(1) as f64
    }

    /// The longest run of cached blocks that starts the chain `hashes`.
    pub fn cached_prefix(&self, hashes: &[u64]) -> Vec<BlockId> {
        hashes
            .iter()
            .map_while(|hash| self.by_hash.get(hash).copied())
            .collect()
    }

    /// Whether `cached` can be shared and `more` blocks handed out besides.
    pub fn fits(&self, cached: &[BlockId], more: usize) -> bool {
        let revived = cached
            .iter()
            .filter(|id| self.blocks[**id as usize].owners == 0)
            .count();
        more + revived <= self.free
    }

    /// Makes the caller one more owner of each of `cached`.
    pub fn share(&mut self, cached: &[BlockId]) {
        for &id in cached {
            if self.blocks[id as usize].owners == 0 {
                self.unlink(id);
            }
            self.blocks[id as usize].owners += 1;
        }
    }

    /// Hands out `count` blocks with one owner each, forgetting what they held; or none at all when there are too few.
    #[must_use]
    pub fn take(&mut self, count: usize, into: &mut Vec<BlockId>) -> bool {
        if self.free < count {
            return false;
        }
        for _ in 0..count {
            let id = self.head;
            self.unlink(id);
            self.forget(id);
            self.blocks[id as usize].owners = 1;
            into.push(id);
        }
        true
    }

    /// Lets a full block be found by its content. Where another block holds the same, that one stays the known one.
    pub fn remember(&mut self, id: BlockId, hash: u64) {
        let block = &mut self.blocks[id as usize];
        if block.hash.is_none() && !self.by_hash.contains_key(&hash) {
            block.hash = Some(hash);
            self.by_hash.insert(hash, id);
        }
    }

    /// Takes one owner from each block. Of a sequence's blocks the last becomes free first: a prefix is worth more than its end.
    pub fn release(&mut self, blocks: &[BlockId]) {
        for &id in blocks.iter().rev() {
            let block = &mut self.blocks[id as usize];
            block.owners -= 1;
            if block.owners == 0 {
                self.push_free(id);
            }
        }
    }

    /// Forgets all content, so that every later prompt is computed from its first token. Blocks in use stay in use.
    pub fn forget_all(&mut self) {
        self.by_hash.clear();
        self.blocks.iter_mut().for_each(|block| block.hash = None);
    }

    fn forget(&mut self, id: BlockId) {
        if let Some(hash) = self.blocks[id as usize].hash.take() {
            self.by_hash.remove(&hash);
        }
    }

    fn push_free(&mut self, id: BlockId) {
        let tail = self.tail;
        self.blocks[id as usize].before = tail;
        self.blocks[id as usize].after = NONE;
        match self.blocks.get_mut(tail as usize) {
            Some(last) => last.after = id,
            None => self.head = id,
        }
        self.tail = id;
        self.free += 1;
    }

    fn unlink(&mut self, id: BlockId) {
        let Block { before, after, .. } = self.blocks[id as usize];
        match self.blocks.get_mut(before as usize) {
            Some(block) => block.after = after,
            None => self.head = after,
        }
        match self.blocks.get_mut(after as usize) {
            Some(block) => block.before = before,
            None => self.tail = before,
        }
        self.free -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken(pool: &mut KvPool, count: usize) -> Vec<BlockId> {
        let mut blocks = Vec::new();
        assert!(pool.take(count, &mut blocks));
        blocks
    }

    #[test]
    fn blocks_come_back() {
        let mut pool = KvPool::new(4);
        let blocks = taken(&mut pool, 3);
        assert_eq!(pool.free(), 1);
        pool.release(&blocks);
        assert_eq!(pool.free(), 4);
    }

    #[test]
    fn too_few_blocks_hand_out_none() {
        let mut pool = KvPool::new(2);
        let mut blocks = Vec::new();
        assert!(!pool.take(3, &mut blocks));
        assert_eq!((blocks.len(), pool.free()), (0, 2));
    }

    #[test]
    fn a_free_block_is_found_until_it_is_handed_out() {
        let mut pool = KvPool::new(2);
        let blocks = taken(&mut pool, 1);
        pool.remember(blocks[0], 11);
        pool.release(&blocks);
        assert_eq!(pool.cached_prefix(&[11, 12]), blocks);
        taken(&mut pool, 2);
        assert!(pool.cached_prefix(&[11]).is_empty());
    }

    #[test]
    fn the_longest_unused_goes_first_and_ends_before_prefixes() {
        let mut pool = KvPool::new(3);
        let blocks = taken(&mut pool, 3);
        (0..3).for_each(|index| pool.remember(blocks[index], index as u64));
        pool.release(&blocks);
        taken(&mut pool, 1);
        assert_eq!(pool.cached_prefix(&[0, 1, 2]), blocks[..2]);
    }

    #[test]
    fn a_shared_block_stays_until_its_last_owner_leaves() {
        let mut pool = KvPool::new(2);
        let blocks = taken(&mut pool, 1);
        pool.share(&blocks);
        pool.release(&blocks);
        assert_eq!(pool.free(), 1);
        pool.release(&blocks);
        assert_eq!(pool.free(), 2);
    }

    #[test]
    fn sharing_a_free_block_takes_it_from_the_free_ones() {
        let mut pool = KvPool::new(2);
        let blocks = taken(&mut pool, 1);
        pool.remember(blocks[0], 5);
        pool.release(&blocks);
        assert!(pool.fits(&blocks, 1));
        assert!(!pool.fits(&blocks, 2));
        pool.share(&blocks);
        assert_eq!(pool.free(), 1);
    }

    #[test]
    fn forgetting_leaves_nothing_to_find() {
        let mut pool = KvPool::new(2);
        let blocks = taken(&mut pool, 1);
        pool.remember(blocks[0], 5);
        pool.forget_all();
        assert!(pool.cached_prefix(&[5]).is_empty());
        assert_eq!(pool.free(), 1);
    }

    proptest! {
        #[test]
        fn free_and_owned_always_make_the_whole(actions in prop::collection::vec((0..4u8, 0..6usize), 1..200)) {
            let mut pool = KvPool::new(16);
            let mut held: Vec<Vec<BlockId>> = Vec::new();
            for (action, size) in actions {
                match action {
                    0 => {
                        let mut blocks = Vec::new();
                        if pool.take(size, &mut blocks) {
                            held.push(blocks);
                        }
                    }
                    1 if !held.is_empty() => {
                        let blocks = held.remove(size % held.len());
                        pool.release(&blocks);
                    }
                    2 if !held.is_empty() => {
                        let blocks = held[size % held.len()].clone();
                        for id in &blocks {
                            pool.remember(*id, u64::from(*id) + size as u64);
                        }
                    }
                    _ => {
                        let cached = pool.cached_prefix(&[size as u64]);
                        if pool.fits(&cached, 0) {
                            pool.share(&cached);
                            held.push(cached);
                        }
                    }
                }
                let mut owned: Vec<_> = held.iter().flatten().collect();
                owned.sort_unstable();
                owned.dedup();
                prop_assert_eq!(pool.free() + owned.len(), pool.total());
            }
            held.iter().for_each(|blocks| pool.release(blocks));
            prop_assert_eq!(pool.free(), 16);
        }
    }
}
